# SPDX-License-Identifier: GPL-2.0
"""One operation of each kind on a file of its own, for tests that let it fail.

op_NAME(it) does it once: it raises OSError, or returns None and has brought
it.want up to date.
"""

import fcntl
import mmap
import os

from lib import acl, aio, handles, ioctls, libc
from lib.compare import attempt
from lib.pattern import first_difference, pattern

BLOCK = 4096
DATA = pattern(7, 0, 5 * BLOCK + 100)


class Subject:
    """A file "f" that holds DATA or nothing, and what operations need beside it."""

    def __init__(self, bed, stream, empty):
        self.bed, self.stream = bed, stream
        self.path, self.new = bed.at("f"), bed.at("new")
        self.want = b"" if empty else DATA
        self.fd = bed.open("f", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640)
        os.write(self.fd, self.want)
        os.setxattr(self.fd, "user.a", b"kept")
        self.made = []  # descriptors

    def check(self, bytes_too=True):
        """The file is there under its name, and is what it was."""
        assert os.path.samestat(os.fstat(self.fd), os.stat(self.path))
        assert os.fstat(self.fd).st_mode & 0o777 == 0o640
        assert os.getxattr(self.path, "user.a") == b"kept"
        if bytes_too:
            with open(self.path, "rb") as f:
                assert not first_difference(f.read(), self.want)
            got = os.pread(self.fd, len(self.want) + 1, 0)
            assert not first_difference(got, self.want)

    def done(self):
        """Closes and removes all of it."""
        top = os.open(self.bed.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        ioctls.set_dir(top, ioctls.DIR_DEFAULT)
        os.close(top)
        for fd in self.made:
            os.close(fd)
        self.bed.close(self.fd)
        for name in os.listdir(self.bed.path):
            path = self.bed.at(name)
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)


def op_set(it):
    ioctls.set_stream(it.fd, it.stream.fd)


def op_clear(it):
    ioctls.clear_stream(it.fd)


def op_alloc(it):
    it.made.append(ioctls.alloc(it.fd))


def op_set_dir(it):
    directory = os.open(it.bed.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    it.made.append(directory)
    ioctls.set_dir(directory, ioctls.DIR_STREAM, it.stream.fd)


def op_append(it):
    done = os.pwrite(it.fd, DATA, len(it.want))
    it.want += DATA[:done]


def op_append_direct(it):
    """Of whole blocks, past the block that the file ends in."""
    it.made.append(os.open(it.path, os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC))
    at = -(-len(it.want) // BLOCK) * BLOCK
    with mmap.mmap(-1, 2 * BLOCK) as page:
        page[:] = DATA[: 2 * BLOCK]
        done = os.pwrite(it.made[-1], page, at)
    it.want = it.want.ljust(at, b"\0") + DATA[:done]


def op_append_aio(it):
    it.made.append(os.open(it.path, os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC))
    at = -(-len(it.want) // BLOCK) * BLOCK
    context = aio.Context(1)
    page = mmap.mmap(-1, 2 * BLOCK)
    try:
        page[:] = DATA[: 2 * BLOCK]
        context.submit([(0, it.made[-1], page, at)])
        done = context.wait(1)[0]
    finally:
        context.close()
    if done < 0:
        raise OSError(-done, os.strerror(-done))
    it.want = it.want.ljust(at, b"\0") + DATA[:done]


def op_map(it):
    """Through a mapping, if there is anything to map."""
    if it.want:
        with mmap.mmap(it.fd, len(it.want)) as mapping:
            mapping[:5] = it.want[:5]
            mapping.flush()


def op_fsync(it):
    os.fsync(it.fd)


def op_read(it):
    assert it.want.startswith(os.pread(it.fd, 2 * BLOCK, 0))


def op_open(it):
    it.made.append(os.open(it.path, os.O_RDWR | os.O_CLOEXEC))


def op_open_by_handle(it):
    it.made.append(handles.open_handle(it.bed.path, handles.of(it.fd)))


def op_create(it):
    it.made.append(os.open(it.new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))


def op_create_in_stream(it):
    """A file that is born in the stream of its directory."""
    op_set_dir(it)
    op_create(it)


def op_tmpfile(it):
    it.made.append(os.open(it.bed.path, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600))
    libc.linkat_fd(it.made[-1], it.new)


def op_mkdir(it):
    os.mkdir(it.new)


def op_symlink(it):
    os.symlink("somewhere", it.new)
    assert os.readlink(it.new) == "somewhere"


def op_link(it):
    os.link(it.path, it.new)


def op_rename(it):
    os.rename(it.path, it.new)
    it.path = it.new


def op_unlink(it):
    """Of another file, which is empty."""
    os.close(os.open(it.new, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
    os.unlink(it.new)


def op_list(it):
    assert os.path.basename(it.path) in os.listdir(it.bed.path)


def op_setxattr(it):
    os.setxattr(it.fd, "user.b", b"b" * 3000)


def op_getxattr(it):
    assert os.getxattr(it.fd, "user.a") == b"kept"
    assert "user.a" in os.listxattr(it.path)


def op_acl(it):
    """A default ACL of a directory: that of a file would change its mode."""
    os.mkdir(it.new)
    os.setxattr(it.new, acl.DEFAULT, acl.for_user(1234))
    assert os.getxattr(it.new, acl.DEFAULT) == acl.for_user(1234)


def op_chown(it):
    os.fchown(it.fd, 1234, 1234)


def op_fallocate(it):
    libc.fallocate(it.fd, libc.FALLOC_KEEP_SIZE, 8 * BLOCK, 8 * BLOCK)


def op_truncate(it):
    os.ftruncate(it.fd, len(it.want) // 2)
    it.want = it.want[: len(it.want) // 2]


def op_clone(it):
    op_create(it)
    ioctls.clone(it.made[-1], it.fd)
    assert os.fstat(it.made[-1]).st_size == len(it.want)


def op_copy(it):
    op_create(it)
    os.copy_file_range(it.fd, it.made[-1], len(it.want), 0, 0)


def op_lock(it):
    fcntl.lockf(it.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(it.fd, fcntl.LOCK_UN)


def op_info(it):
    ioctls.FileInfo.of(it.fd)
    ioctls.Geometry.of(it.fd)


def op_fdinfo(it):
    assert "ag_set" in it.stream.info()


OPERATIONS = {name[3:]: value for name, value in list(globals().items()) if name.startswith("op_")}

# What a want of memory may be told as, besides ENOMEM: by whom it is the VFS's way
SHORT_OF_MEMORY = {"append_aio": {"EAGAIN"}, "lock": {"ENOLCK"}}


def answer_of(operation, it):
    """What the operation fails with, or None."""
    try:
        return attempt(OPERATIONS[operation], it)
    except MemoryError:  # of Python itself, between two system calls
        return "ENOMEM"
