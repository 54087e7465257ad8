// SPDX-License-Identifier: GPL-2.0
/* The numbered interface: each operation, each errno, both ioctl numbers. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/write_streams_numbered.h>

#include "wsfs_fixture.h"

#define NUMBERED	2
/* Streams that are not numbered */
#define RESERVABLE	(WS_STREAMS - NUMBERED)

static int call(int fd, unsigned long cmd, __u32 op, __u32 id,
		struct fs_write_stream *out)
{
	*out = (struct fs_write_stream) {
		.op_flags = op,
		.stream_id = id,
		.max_streams = 77,
		.rsvd = 99,
	};
	return ws_ioctl(fd, cmd, out);
}

FIXTURE(numbered)
{
	struct fs_write_stream out;
	int dir;
	int fd;
};

FIXTURE_VARIANT(numbered)
{
	unsigned long cmd;
};

FIXTURE_VARIANT_ADD(numbered, v3) { FS_IOC_WRITE_STREAM };
FIXTURE_VARIANT_ADD(numbered, v2) { FS_IOC_WRITE_STREAM_V2 };

FIXTURE_SETUP(numbered)
{
	ASSERT_EQ(0, ws_xfs_up(NULL));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0,
			      WS_OPTIONS ",numbered=2"));
	self->dir = ws_open(WS_MNT, O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->dir);
	self->fd = ws_create(WS_MNT "/file");
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(numbered)
{
	ws_become_root();
	EXPECT_EQ(0, ws_down());
}

static int number_of(int fd, unsigned long cmd)
{
	struct fs_write_stream out;

	return call(fd, cmd, FS_WRITE_STREAM_OP_GET, 55, &out) ?:
	       (int)out.stream_id;
}

static int set_number(int fd, unsigned long cmd, __u32 id)
{
	struct fs_write_stream out;

	return call(fd, cmd, FS_WRITE_STREAM_OP_SET, id, &out);
}

TEST(ioctl_numbers)
{
	EXPECT_EQ(0xc0106687, FS_IOC_WRITE_STREAM);
	EXPECT_EQ(0xc010662b, FS_IOC_WRITE_STREAM_V2);
	EXPECT_EQ(16, sizeof(struct fs_write_stream));
	EXPECT_EQ(1, FS_WRITE_STREAM_OP_GET_MAX);
	EXPECT_EQ(2, FS_WRITE_STREAM_OP_GET);
	EXPECT_EQ(4, FS_WRITE_STREAM_OP_SET);
}

TEST_F(numbered, get_max)
{
	const int fds[] = { self->dir, self->fd,
			    ws_open(WS_MNT "/file", O_RDONLY) };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		EXPECT_EQ(0, call(fds[i], variant->cmd,
				  FS_WRITE_STREAM_OP_GET_MAX, 5, &self->out));
		EXPECT_EQ(NUMBERED, self->out.max_streams);
		EXPECT_EQ(5, self->out.stream_id);
		EXPECT_EQ(99, self->out.rsvd);
	}
}

TEST_F(numbered, get)
{
	EXPECT_EQ(0, number_of(self->fd, variant->cmd));
	EXPECT_EQ(0, number_of(self->dir, variant->cmd));
	EXPECT_EQ(0, call(self->fd, variant->cmd, FS_WRITE_STREAM_OP_GET, 5,
			  &self->out));
	EXPECT_EQ(0, self->out.stream_id);
	EXPECT_EQ(77, self->out.max_streams);
}

/* Number n is the n-th of the streams that are set aside, the last ones. */
TEST_F(numbered, set)
{
	struct wsfs_file_info info;

	for (__u32 id = 1; id <= NUMBERED; id++) {
		EXPECT_EQ(0, call(self->fd, variant->cmd,
				  FS_WRITE_STREAM_OP_SET, id, &self->out));
		EXPECT_EQ(id, self->out.stream_id);
		EXPECT_EQ(id, number_of(self->fd, FS_IOC_WRITE_STREAM));
		EXPECT_EQ(id, number_of(self->fd, FS_IOC_WRITE_STREAM_V2));
		EXPECT_EQ(0, ws_info(self->fd, &info));
		EXPECT_EQ(RESERVABLE + id - 1, info.stream);
		EXPECT_TRUE(info.flags & WSFS_FILE_HOMED);
		EXPECT_EQ(info.stream, info.inode_agno / WS_AGS_EACH);
	}
}

TEST_F(numbered, set_zero_clears)
{
	EXPECT_EQ(0, set_number(self->fd, variant->cmd, 0));
	EXPECT_EQ(0, set_number(self->fd, variant->cmd, 1));
	EXPECT_EQ(1, ws_has_stream(self->fd));
	EXPECT_EQ(0, set_number(self->fd, variant->cmd, 0));
	EXPECT_EQ(0, ws_has_stream(self->fd));
	EXPECT_EQ(0, number_of(self->fd, variant->cmd));
}

/* The same number is the same stream for all who use it. */
TEST_F(numbered, shared)
{
	int other = ws_create(WS_MNT "/other");
	struct wsfs_file_info a, b;

	EXPECT_EQ(0, set_number(self->fd, variant->cmd, 2));
	EXPECT_EQ(0, set_number(other, variant->cmd, 2));
	EXPECT_EQ(0, ws_info(self->fd, &a));
	EXPECT_EQ(0, ws_info(other, &b));
	EXPECT_EQ(a.stream, b.stream);
}

TEST_F(numbered, apart_from_reservations)
{
	int stream = ws_alloc(self->dir);
	__u32 max;

	EXPECT_EQ(0, ws_max(self->dir, &max));
	EXPECT_EQ(RESERVABLE, max);
	EXPECT_EQ(RESERVABLE - 1, ws_free_streams(WS_MNT));
	EXPECT_EQ(0, ws_set(self->fd, stream));
	EXPECT_EQ(0, number_of(self->fd, variant->cmd));
	EXPECT_EQ(0, set_number(self->fd, variant->cmd, 1));
	EXPECT_EQ(1, number_of(self->fd, variant->cmd));
}

TEST_F(numbered, einval)
{
	const __u32 ops[] = { 0, 3, 5, 6, 7, 8, 1U << 31, ~0U };
	const __u32 ids[] = { NUMBERED + 1, 1U << 31, ~0U };
	int fifo;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		EXPECT_EQ(-EINVAL, call(self->fd, variant->cmd, ops[i], 1,
					&self->out));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		EXPECT_EQ(-EINVAL, set_number(self->fd, variant->cmd, ids[i]));
	EXPECT_EQ(-EINVAL, set_number(self->dir, variant->cmd, 1));
	EXPECT_EQ(-EINVAL, set_number(self->dir, variant->cmd, 0));
	ASSERT_EQ(0, mkfifo(WS_MNT "/fifo", 0600));
	fifo = ws_open(WS_MNT "/fifo", O_RDWR);
	EXPECT_EQ(-ENOTTY, set_number(fifo, variant->cmd, 1));
	EXPECT_EQ(0, number_of(self->fd, variant->cmd));
}

TEST_F(numbered, efault)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *page = ws_page(PROT_READ | PROT_WRITE);
	struct fs_write_stream *stream;

	EXPECT_EQ(-EFAULT, ws_ioctl(self->fd, variant->cmd, NULL));
	EXPECT_EQ(-EFAULT, ws_ioctl(self->fd, variant->cmd, page + size));
	EXPECT_EQ(-EFAULT, ws_ioctl(self->fd, variant->cmd, page + size - 8));
	/* can be read, but nothing can be stored */
	stream = (struct fs_write_stream *)page;
	stream->op_flags = FS_WRITE_STREAM_OP_GET_MAX;
	ASSERT_EQ(0, mprotect(page, size, PROT_READ));
	EXPECT_EQ(-EFAULT, ws_ioctl(self->fd, variant->cmd, stream));
}

TEST_F(numbered, ebadf_not_writable)
{
	int fd = ws_open(WS_MNT "/file", O_RDONLY);

	EXPECT_EQ(-EBADF, set_number(fd, variant->cmd, 1));
	EXPECT_EQ(-EBADF, set_number(fd, variant->cmd, 0));
	EXPECT_EQ(0, number_of(fd, variant->cmd));
}

TEST_F(numbered, eperm)
{
	int theirs;

	ASSERT_EQ(0, chmod(WS_MNT "/file", 0666));
	ASSERT_EQ(0, ws_become(WS_USER));
	theirs = ws_open(WS_MNT "/file", O_RDWR);
	EXPECT_LE(0, theirs);
	EXPECT_EQ(-EPERM, set_number(theirs, variant->cmd, 1));
	EXPECT_EQ(0, number_of(theirs, variant->cmd));
	ws_become_root();
	ASSERT_EQ(0, ws_chattr(self->fd, FS_IMMUTABLE_FL, 0));
	EXPECT_EQ(-EPERM, set_number(self->fd, variant->cmd, 1));
	ASSERT_EQ(0, ws_chattr(self->fd, 0, FS_IMMUTABLE_FL));
}

TEST_F(numbered, ebusy)
{
	ASSERT_EQ(0, ws_set_hint(self->fd, RWH_WRITE_LIFE_SHORT));
	EXPECT_EQ(-EBUSY, set_number(self->fd, variant->cmd, 1));
	ASSERT_EQ(0, ws_set_hint(self->fd, RWH_WRITE_LIFE_NOT_SET));
	EXPECT_EQ(0, set_number(self->fd, variant->cmd, 1));
}

TEST_F(wsfs, enotty_without_the_option)
{
	struct fs_write_stream out;
	int fd = ws_create(WS_MNT "/file");

	for (__u32 op = 0; op < 8; op++) {
		EXPECT_EQ(-ENOTTY, call(fd, FS_IOC_WRITE_STREAM, op, 1, &out));
		EXPECT_EQ(-ENOTTY, call(fd, FS_IOC_WRITE_STREAM_V2, op, 1,
					&out));
		EXPECT_EQ(-ENOTTY, call(self->dir, FS_IOC_WRITE_STREAM, op, 0,
					&out));
	}
	EXPECT_EQ(-ENOTTY, ws_ioctl(fd, FS_IOC_WRITE_STREAM, NULL));
}

TEST_HARNESS_MAIN
