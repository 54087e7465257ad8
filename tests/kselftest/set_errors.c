// SPDX-License-Identifier: GPL-2.0
/* FS_IOC_WRITE_STREAM_SET where it is refused; nothing may have changed. */
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "wsfs_fixture.h"

/* A file that carries a stream, one that carries none, and a second stream. */
FIXTURE(set)
{
	int dir;
	int has;		/* carries held */
	int plain;
	int held;
	int other;
	struct wsfs_file_info has_info;
	struct wsfs_file_info plain_info;
};

FIXTURE_SETUP(set)
{
	ASSERT_EQ(0, ws_up());
	self->dir = ws_open(WS_MNT, O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->dir);
	self->has = ws_create(WS_MNT "/has");
	ASSERT_LE(0, self->has);
	self->plain = ws_create(WS_MNT "/plain");
	ASSERT_LE(0, self->plain);
	self->held = ws_alloc(self->dir);
	ASSERT_LE(0, self->held);
	self->other = ws_alloc(self->dir);
	ASSERT_LE(0, self->other);
	ASSERT_EQ(0, ws_set(self->has, self->held));
	ASSERT_EQ(0, ws_info(self->has, &self->has_info));
	ASSERT_EQ(0, ws_info(self->plain, &self->plain_info));
}

/* Whatever was refused, the files are as they were. */
FIXTURE_TEARDOWN(set)
{
	struct wsfs_file_info info;
	struct ws_fdinfo fdinfo;

	ws_become_root();
	EXPECT_EQ(0, ws_info(self->has, &info));
	EXPECT_EQ(0, memcmp(&info, &self->has_info, sizeof(info)));
	EXPECT_EQ(0, ws_info(self->plain, &info));
	EXPECT_EQ(0, memcmp(&info, &self->plain_info, sizeof(info)));
	EXPECT_EQ(0, ws_fdinfo(self->held, &fdinfo));
	EXPECT_EQ(1, fdinfo.files);
	EXPECT_EQ(0, ws_fdinfo(self->other, &fdinfo));
	EXPECT_EQ(0, fdinfo.files);
	EXPECT_EQ(WS_STREAMS - 2, ws_free_streams(WS_MNT));
	EXPECT_EQ(0, ws_down());
}

TEST_F(set, efault)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *page = ws_page(PROT_READ | PROT_WRITE);

	EXPECT_EQ(-EFAULT, ws_set_ptr(self->plain, NULL));
	EXPECT_EQ(-EFAULT, ws_set_ptr(self->plain, page + size));
	EXPECT_EQ(-EFAULT, ws_set_ptr(self->plain, page + size - 4));
	EXPECT_EQ(-EFAULT, ws_set_ptr(self->plain, (void *)-4096L));
	EXPECT_EQ(-EFAULT, ws_set_ptr(self->plain, ws_page(PROT_NONE)));
	EXPECT_EQ(-EFAULT, ws_set_ptr(self->has, NULL));
}

TEST_F(set, einval_unknown_flag)
{
	for (int bit = 1; bit < 32; bit++) {
		EXPECT_EQ(-EINVAL, ws_set_raw(self->plain, self->other,
					      1U << bit));
		EXPECT_EQ(-EINVAL, ws_set_raw(self->has, self->other,
					      1U << bit));
		EXPECT_EQ(-EINVAL, ws_set_raw(self->has, -1, 1U << bit |
					      FS_WRITE_STREAM_SET_CLEAR));
	}
	EXPECT_EQ(-EINVAL, ws_set_raw(self->has, self->other, ~0U));
}

TEST_F(set, einval_clear_with_an_fd)
{
	const __u32 clear = FS_WRITE_STREAM_SET_CLEAR;

	EXPECT_EQ(-EINVAL, ws_set_raw(self->has, self->held, clear));
	EXPECT_EQ(-EINVAL, ws_set_raw(self->has, self->other, clear));
	EXPECT_EQ(-EINVAL, ws_set_raw(self->has, self->has, clear));
	EXPECT_EQ(-EINVAL, ws_set_raw(self->has, 0, clear));
	EXPECT_EQ(-EINVAL, ws_set_raw(self->has, INT_MAX, clear));
	/* not an fd, but not -1 either */
	EXPECT_EQ(-EINVAL, ws_set_raw(self->has, -2, clear));
}

TEST_F(set, einval_fd_is_no_stream)
{
	int pipes[2], socks[2], fds[9];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	fds[0] = pipes[0];
	fds[1] = pipes[1];
	fds[2] = socks[0];
	fds[3] = eventfd(0, 0);
	fds[4] = epoll_create1(0);
	fds[5] = memfd_create("file", 0);
	fds[6] = self->dir;
	fds[7] = self->plain;
	fds[8] = ws_open("/dev/null", O_RDWR);

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		ASSERT_LE(0, fds[i]);
		EXPECT_EQ(-EINVAL, ws_set(self->plain, fds[i]));
		EXPECT_EQ(-EINVAL, ws_set(self->has, fds[i]));
	}
}

TEST_F(set, ebadf_no_such_fd)
{
	int closed = dup(self->other);

	close(closed);
	EXPECT_EQ(-EBADF, ws_set(self->plain, closed));
	EXPECT_EQ(-EBADF, ws_set(self->has, closed));
	EXPECT_EQ(-EBADF, ws_set(self->plain, -1));
	EXPECT_EQ(-EBADF, ws_set(self->has, -1));
	EXPECT_EQ(-EBADF, ws_set(self->plain, -2));
	EXPECT_EQ(-EBADF, ws_set(self->plain, INT_MIN));
	EXPECT_EQ(-EBADF, ws_set(self->plain, INT_MAX));
}

TEST_F(set, ebadf_file_not_writable)
{
	int plain, has;

	plain = ws_open(WS_MNT "/plain", O_RDONLY);
	has = ws_open(WS_MNT "/has", O_RDONLY);
	EXPECT_EQ(-EBADF, ws_set(plain, self->other));
	EXPECT_EQ(-EBADF, ws_set(has, self->other));
	EXPECT_EQ(-EBADF, ws_clear(has));
	EXPECT_EQ(-EBADF, ws_clear(plain));
}

TEST_F(set, ebadf_path_fd)
{
	int path = ws_open(WS_MNT "/plain", O_PATH);

	ASSERT_LE(0, path);
	EXPECT_EQ(-EBADF, ws_set(path, self->other));
	EXPECT_EQ(-EBADF, ws_clear(path));
}

/* A directory is neither regular nor open for writing. */
TEST_F(set, directory)
{
	EXPECT_EITHER(-EINVAL, -EBADF, ws_set(self->dir, self->other));
	EXPECT_EITHER(-EINVAL, -EBADF, ws_clear(self->dir));
}

TEST_F(set, exdev_stream_of_another_filesystem)
{
	int dir2, s2, fd2;

	ASSERT_EQ(0, ws_up2());
	dir2 = ws_open(WS_MNT2, O_RDONLY);
	s2 = ws_alloc(dir2);
	ASSERT_LE(0, s2);
	fd2 = ws_create(WS_MNT2 "/file");
	ASSERT_LE(0, fd2);

	EXPECT_EQ(-EXDEV, ws_set(self->plain, s2));
	EXPECT_EQ(-EXDEV, ws_set(self->has, s2));
	EXPECT_EQ(-EXDEV, ws_set(fd2, self->other));
	EXPECT_EQ(0, ws_has_stream(fd2));
}

TEST_F(set, eperm_not_owner)
{
	ASSERT_EQ(0, ws_become(WS_USER));
	EXPECT_EQ(-EPERM, ws_set(self->plain, self->other));
	EXPECT_EQ(-EPERM, ws_set(self->has, self->other));
	EXPECT_EQ(-EPERM, ws_clear(self->has));
	ws_become_root();
}

static int set_in_userns(int fd, int stream)
{
	int ret = ws_errno(setresuid(WS_USER, WS_USER, WS_USER));

	return ret ?: ws_in_userns() ?: ws_set(fd, stream);
}

/* All capabilities, but in a user namespace that does not know the owner. */
TEST_F(set, eperm_root_of_a_user_namespace)
{
	EXPECT_EQ(-EPERM, ws_in_child(set_in_userns, self->plain,
				      self->other));
}

TEST_F(set, eperm_immutable)
{
	ASSERT_EQ(0, ws_chattr(self->plain, FS_IMMUTABLE_FL, 0));
	EXPECT_EQ(-EPERM, ws_set(self->plain, self->other));
	ASSERT_EQ(0, ws_chattr(self->plain, 0, FS_IMMUTABLE_FL));

	ASSERT_EQ(0, ws_chattr(self->has, FS_IMMUTABLE_FL, 0));
	EXPECT_EQ(-EPERM, ws_set(self->has, self->other));
	EXPECT_EQ(-EPERM, ws_clear(self->has));
	ASSERT_EQ(0, ws_chattr(self->has, 0, FS_IMMUTABLE_FL));
}

/* The flag set on the lower file counts as well. */
TEST_F(set, eperm_immutable_below)
{
	int lower = ws_open(WS_XFS "/plain", O_RDONLY);

	ASSERT_EQ(0, ws_chattr(lower, FS_IMMUTABLE_FL, 0));
	EXPECT_EQ(-EPERM, ws_set(self->plain, self->other));
	ASSERT_EQ(0, ws_chattr(lower, 0, FS_IMMUTABLE_FL));
}

TEST_F(set, ebusy_hint)
{
	__u64 hint;

	for (hint = RWH_WRITE_LIFE_SHORT; hint <= RWH_WRITE_LIFE_EXTREME;
	     hint++) {
		ASSERT_EQ(0, ws_set_hint(self->plain, hint));
		EXPECT_EQ(-EBUSY, ws_set(self->plain, self->other));
	}
	ASSERT_EQ(0, ws_get_hint(self->plain, &hint));
	EXPECT_EQ(RWH_WRITE_LIFE_EXTREME, hint);
	ASSERT_EQ(0, ws_set_hint(self->plain, RWH_WRITE_LIFE_NOT_SET));
}

TEST_F(set, ebusy_filestream)
{
	int fd = ws_create(WS_MNT "/filestream");

	ASSERT_EQ(0, ws_xflags(fd, FS_XFLAG_FILESTREAM));
	EXPECT_EQ(-EBUSY, ws_set(fd, self->other));
	EXPECT_EQ(0, ws_has_stream(fd));
}

TEST_F(set, ebusy_filestream_from_the_directory)
{
	int fd;

	ASSERT_EQ(0, mkdir(WS_MNT "/sub", 0755));
	ASSERT_EQ(0, ws_xflags(ws_open(WS_MNT "/sub", O_RDONLY),
			       FS_XFLAG_FILESTREAM));
	fd = ws_create(WS_MNT "/sub/file");
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBUSY, ws_set(fd, self->other));
	EXPECT_EQ(0, ws_has_stream(fd));
}

TEST_F(set, ebusy_filestream_below)
{
	int fd, lower;

	fd = ws_create(WS_MNT "/filestream");
	ASSERT_LE(0, fd);
	lower = ws_open(WS_XFS "/filestream", O_RDONLY);
	ASSERT_EQ(0, ws_xflags(lower, FS_XFLAG_FILESTREAM));
	EXPECT_EQ(-EBUSY, ws_set(fd, self->other));
	EXPECT_EQ(0, ws_has_stream(fd));
}

/* An XFS mounted with -o filestreams: every file is on a filestream. */
FIXTURE(filestreams) {};

FIXTURE_SETUP(filestreams)
{
	ASSERT_EQ(0, ws_xfs_up("filestreams"));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS));
}

FIXTURE_TEARDOWN(filestreams)
{
	EXPECT_EQ(0, ws_down());
}

TEST_F(filestreams, ebusy)
{
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	ASSERT_LE(0, fd);
	s = ws_alloc(fd);
	if (s == -EOPNOTSUPP)
		return;		/* no streams at all: as good */
	ASSERT_LE(0, s);
	EXPECT_EQ(-EBUSY, ws_set(fd, s));
	EXPECT_EQ(0, ws_has_stream(fd));
}

TEST_HARNESS_MAIN
