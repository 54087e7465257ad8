// SPDX-License-Identifier: GPL-2.0
/* FS_IOC_WRITE_STREAM_ALLOC: reserving a stream. */
#include <sys/resource.h>

#include <linux/capability.h>

#include "wsfs_fixture.h"

TEST_F(wsfs, returns_close_on_exec_fd)
{
	struct ws_fdinfo info;
	int s;

	s = ws_alloc(self->dir);
	ASSERT_LE(0, s);
	EXPECT_EQ(FD_CLOEXEC, fcntl(s, F_GETFD));
	EXPECT_EQ(0, ws_fdinfo(s, &info));
}

TEST_F(wsfs, through_any_file_or_directory)
{
	int rdwr, rdonly;

	rdwr = ws_create(WS_MNT "/file");
	ASSERT_LE(0, rdwr);
	rdonly = ws_open(WS_MNT "/file", O_RDONLY);
	ASSERT_LE(0, rdonly);

	EXPECT_LE(0, ws_alloc(rdwr));
	EXPECT_LE(0, ws_alloc(rdonly));
	EXPECT_LE(0, ws_alloc(self->dir));
}

/* _IO(): programs call ioctl(fd, ALLOC), and the third register holds junk */
TEST_F(wsfs, argument_is_ignored)
{
	EXPECT_LE(0, ws_ioctl(self->dir, FS_IOC_WRITE_STREAM_ALLOC, NULL));
	EXPECT_LE(0, ws_ioctl(self->dir, FS_IOC_WRITE_STREAM_ALLOC,
			      (void *)0xdeadbeef));
	EXPECT_LE(0, ws_ioctl(self->dir, FS_IOC_WRITE_STREAM_ALLOC,
			      (void *)-1L));
}

TEST_F(wsfs, ids_are_distinct_and_in_range)
{
	bool seen[WS_STREAMS] = { false };
	struct ws_fdinfo info;
	int s;

	for (int i = 0; i < WS_STREAMS; i++) {
		s = ws_alloc(self->dir);
		ASSERT_LE(0, s);
		ASSERT_EQ(0, ws_fdinfo(s, &info));
		ASSERT_LE(0, info.stream);
		ASSERT_GT(WS_STREAMS, info.stream);
		EXPECT_FALSE(seen[info.stream]);
		seen[info.stream] = true;
	}
}

TEST_F(wsfs, eperm_without_cap_sys_admin)
{
	ASSERT_EQ(0, ws_capability(CAP_SYS_ADMIN, false));
	EXPECT_EQ(-EPERM, ws_alloc(self->dir));
	ASSERT_EQ(0, ws_capability(CAP_SYS_ADMIN, true));

	ASSERT_EQ(0, ws_become(WS_USER));
	EXPECT_EQ(-EPERM, ws_alloc(self->dir));
	ws_become_root();

	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

TEST_F(wsfs, cap_sys_admin_is_enough)
{
	ASSERT_EQ(0, ws_become(WS_USER));
	ASSERT_EQ(0, ws_capability(CAP_SYS_ADMIN, true));
	EXPECT_LE(0, ws_alloc(self->dir));
	ws_become_root();
}

static int alloc_in_userns(int fd, int unused)
{
	return ws_in_userns() ?: ws_alloc(fd);
}

TEST_F(wsfs, eperm_in_user_namespace)
{
	EXPECT_EQ(-EPERM, ws_in_child(alloc_in_userns, self->dir, 0));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

TEST_F(wsfs, enospc_when_all_are_reserved)
{
	int s[WS_STREAMS], fd;

	for (int i = 0; i < WS_STREAMS; i++) {
		s[i] = ws_alloc(self->dir);
		ASSERT_LE(0, s[i]);
	}
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	fd = ws_create(WS_MNT "/file");
	EXPECT_EQ(-ENOSPC, ws_alloc(fd));

	close(s[1]);
	s[1] = ws_alloc(self->dir);
	EXPECT_LE(0, s[1]);
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
}

TEST_F(wsfs, emfile_reserves_nothing)
{
	struct rlimit old, none;
	int first_free;

	first_free = dup(self->dir);
	ASSERT_LE(0, first_free);
	close(first_free);

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	none = old;
	none.rlim_cur = first_free;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	for (int i = 0; i < 2 * WS_STREAMS; i++)
		EXPECT_EQ(-EMFILE, ws_alloc(self->dir));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));

	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

/* Where there are no streams. */
FIXTURE(no_streams) {};

FIXTURE_VARIANT(no_streams)
{
	const char *lower;
	const char *options;
};

FIXTURE_VARIANT_ADD(no_streams, option)
{
	.lower = WS_XFS, .options = "streams=0",
};

FIXTURE_VARIANT_ADD(no_streams, not_xfs)
{
	.lower = WS_TMP, .options = NULL,
};

FIXTURE_SETUP(no_streams)
{
	ASSERT_EQ(0, ws_xfs_up(NULL));
	ASSERT_EQ(0, ws_mount(variant->lower, WS_MNT, "wsfs", 0,
			      variant->options));
}

FIXTURE_TEARDOWN(no_streams)
{
	EXPECT_EQ(0, ws_down());
}

TEST_F(no_streams, eopnotsupp)
{
	int dir, fd;

	dir = ws_open(WS_MNT, O_RDONLY);
	ASSERT_LE(0, dir);
	EXPECT_EQ(-EOPNOTSUPP, ws_alloc(dir));

	fd = ws_create(WS_MNT "/file");
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EOPNOTSUPP, ws_alloc(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
}

/* As many as wsfs can have. */
FIXTURE(most_streams) {};

FIXTURE_SETUP(most_streams)
{
	struct rlimit files = { .rlim_cur = 4096, .rlim_max = 4096 };

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_EQ(0, ws_xfs_up(NULL));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, "streams=1024"));
}

FIXTURE_TEARDOWN(most_streams)
{
	EXPECT_EQ(0, ws_down());
}

TEST_F(most_streams, all_can_be_reserved)
{
	struct ws_fdinfo info;
	char ag[16];
	int dir, s;

	dir = ws_open(WS_MNT, O_RDONLY);
	ASSERT_LE(0, dir);
	for (int i = 0; i < 1024; i++) {
		s = ws_alloc(dir);
		ASSERT_LE(0, s);
		ASSERT_EQ(0, ws_fdinfo(s, &info));
		snprintf(ag, sizeof(ag), "%d", info.stream % WS_AGCOUNT);
		ASSERT_STREQ(ag, info.ag_set);
	}
	EXPECT_EQ(-ENOSPC, ws_alloc(dir));
}

TEST_HARNESS_MAIN
