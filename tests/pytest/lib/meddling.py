# SPDX-License-Identifier: GPL-2.0
"""Streams come and go on whatever files there are, while something else runs."""

import errno
import os
import random
import threading

from lib import ioctls

# What opening and setting may meet on files that others make, change and remove.
_MET = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.ETXTBSY, errno.ENXIO, errno.EISDIR,
        errno.ELOOP, errno.ENOTDIR, errno.EWOULDBLOCK, errno.EBUSY, errno.EBADF, errno.EINVAL,
        errno.ENOSPC, errno.ESTALE, errno.ENODEV, errno.EOVERFLOW,
        errno.ENOTTY, errno.EXDEV}  # fmt: skip


class TreeMeddler:
    """A thread that sets and clears streams on random files and directories below
    @top, and reserves and closes the streams, while the context lasts; `sets`
    counts those on files."""

    def __init__(self, wsfs, top, seed=1):
        self._wsfs, self._top = wsfs, top
        self._draw = random.Random(seed)
        self._end = threading.Event()
        self._failure = None
        self._held = []
        self.sets = 0
        self._thread = threading.Thread(target=self._work)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
        for stream in self._held:
            stream.close()
        if self._failure:
            raise self._failure

    def _work(self):
        try:
            while not self._end.wait(0.0005):
                try:
                    self._one()
                except OSError as error:
                    if error.errno not in _MET:
                        raise
        except BaseException as failure:  # handed over by __exit__
            self._failure = failure

    def _one(self):
        draw = self._draw
        if len(self._held) < 4 and draw.random() < 0.2:
            self._held.append(self._wsfs.alloc())
        elif self._held and draw.random() < 0.05:
            self._held.pop(draw.randrange(len(self._held))).close()
        if self._held and (path := self._somewhere()):
            act = self._of_directory if os.path.isdir(path) else self._of_file
            act(path, draw.choice(self._held))

    def _somewhere(self):
        """A random walk down, to a file or, now and then, a directory."""
        path = self._top
        for _ in range(6):
            with os.scandir(path) as entries:
                entries = list(entries)
            if not entries or self._draw.random() < 0.1:
                return path
            entry = self._draw.choice(entries)
            path = entry.path
            if not entry.is_dir(follow_symlinks=False):
                return path if entry.is_file(follow_symlinks=False) else None
        return path

    def _of_file(self, path, stream):
        fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if self._draw.random() < 0.2:
                ioctls.clear_stream(fd)
            else:
                ioctls.set_stream(fd, stream.fd)
                self.sets += 1
        finally:
            os.close(fd)

    def _of_directory(self, path, stream):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            how = self._draw.choice([ioctls.DIR_STREAM, ioctls.DIR_DEFAULT, ioctls.DIR_SPREAD])
            ioctls.set_dir(fd, how, stream.fd if how == ioctls.DIR_STREAM else -1)
        finally:
            os.close(fd)
