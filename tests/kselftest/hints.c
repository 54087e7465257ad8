// SPDX-License-Identifier: GPL-2.0
/*
 * Write life time hints and streams exclude each other. That SET refuses a
 * file with a hint stands in set_errors.c; here the hint comes second.
 */
#include "wsfs_fixture.h"

static int hint_of(int fd)
{
	__u64 hint = 99;
	int ret = ws_get_hint(fd, &hint);

	return ret ?: (int)hint;
}

/* A file with a stream that was just given a hint. */
FIXTURE(hint)
{
	int stream;
	int fd;
	long long resets;
};

FIXTURE_SETUP(hint)
{
	int dir;

	ASSERT_EQ(0, ws_up());
	dir = ws_open(WS_MNT, O_RDONLY);
	self->stream = ws_alloc(dir);
	self->fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(self->fd, self->stream));
	self->resets = ws_sysfs(WS_MNT, "hints_reset");
	ASSERT_LE(0, self->resets);
	ASSERT_EQ(0, ws_set_hint(self->fd, RWH_WRITE_LIFE_SHORT));
}

/* Whatever the operation was: it took the hint away and left the stream. */
FIXTURE_TEARDOWN(hint)
{
	struct ws_fdinfo info;
	int lower;

	EXPECT_EQ(RWH_WRITE_LIFE_NOT_SET, hint_of(self->fd));
	EXPECT_EQ(self->resets + 1, ws_sysfs(WS_MNT, "hints_reset"));
	EXPECT_EQ(1, ws_has_stream(self->fd));
	EXPECT_EQ(0, ws_fdinfo(self->stream, &info));
	EXPECT_EQ(1, info.files);
	lower = ws_open(WS_XFS "/file", O_RDONLY);
	EXPECT_EQ(RWH_WRITE_LIFE_NOT_SET, hint_of(lower));
	EXPECT_EQ(0, ws_down());
}

TEST_F(hint, reset_by_write)
{
	EXPECT_EQ(0, ws_fill(self->fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(self->fd, 0, 4096, 'x'));
}

TEST_F(hint, reset_by_direct_write)
{
	int direct = ws_open(WS_MNT "/file", O_RDWR | O_DIRECT);

	ASSERT_LE(0, direct);
	EXPECT_EQ(0, ws_fill(direct, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(direct, 0, 4096, 'x'));
}

TEST_F(hint, reset_by_fallocate)
{
	EXPECT_EQ(0, fallocate(self->fd, 0, 0, 65536));
}

TEST_F(hint, reset_by_set)
{
	EXPECT_EQ(0, ws_set(self->fd, self->stream));
}

/* Through whichever fd the next operation comes. */
TEST_F(hint, reset_through_another_fd)
{
	int other = ws_open(WS_MNT "/file", O_WRONLY);

	EXPECT_EQ(0, ws_fill(other, 0, 4096, 'x'));
}

TEST_F(hint, counted_once)
{
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(0, ws_fill(self->fd, i * 4096, 4096, 'x'));
}

TEST_F(wsfs, every_reset_is_counted)
{
	int fd = ws_create(WS_MNT "/file");

	ASSERT_EQ(0, ws_set(fd, ws_alloc(self->dir)));
	for (int i = 1; i <= 10; i++) {
		ASSERT_EQ(0, ws_set_hint(fd, RWH_WRITE_LIFE_EXTREME));
		ASSERT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
		EXPECT_EQ(i, ws_sysfs(WS_MNT, "hints_reset"));
		EXPECT_EQ(RWH_WRITE_LIFE_NOT_SET, hint_of(fd));
	}
}

TEST_F(wsfs, hint_without_a_stream_goes_down)
{
	int fd, lower;

	fd = ws_create(WS_MNT "/file");
	lower = ws_open(WS_XFS "/file", O_RDONLY);
	for (int hint = RWH_WRITE_LIFE_SHORT; hint <= RWH_WRITE_LIFE_EXTREME;
	     hint++) {
		ASSERT_EQ(0, ws_set_hint(fd, hint));
		ASSERT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
		EXPECT_EQ(hint, hint_of(fd));
		EXPECT_EQ(hint, hint_of(lower));
	}
	ASSERT_EQ(0, ws_set_hint(fd, RWH_WRITE_LIFE_NOT_SET));
	ASSERT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(RWH_WRITE_LIFE_NOT_SET, hint_of(lower));
	EXPECT_EQ(0, ws_sysfs(WS_MNT, "hints_reset"));
}

TEST_F(wsfs, hint_is_free_again_after_clear)
{
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, ws_clear(fd));
	EXPECT_EQ(0, ws_set_hint(fd, RWH_WRITE_LIFE_SHORT));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(RWH_WRITE_LIFE_SHORT, hint_of(fd));
	EXPECT_EQ(-EBUSY, ws_set(fd, s));
	EXPECT_EQ(0, ws_sysfs(WS_MNT, "hints_reset"));
}

TEST_F(wsfs, hint_is_free_again_after_release)
{
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, s));
	close(s);
	EXPECT_EQ(0, ws_set_hint(fd, RWH_WRITE_LIFE_SHORT));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(RWH_WRITE_LIFE_SHORT, hint_of(fd));
	EXPECT_EQ(0, ws_sysfs(WS_MNT, "hints_reset"));
}

TEST_F(wsfs, stream_is_free_again_without_the_hint)
{
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set_hint(fd, RWH_WRITE_LIFE_SHORT));
	EXPECT_EQ(-EBUSY, ws_set(fd, s));
	ASSERT_EQ(0, ws_set_hint(fd, RWH_WRITE_LIFE_NOT_SET));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
}

TEST_HARNESS_MAIN
