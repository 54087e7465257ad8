// SPDX-License-Identifier: GPL-2.0
/* FS_IOC_WRITE_STREAM_GET_MAX: how many streams are there? */
#include "wsfs_fixture.h"

TEST_F(wsfs, any_file_or_directory)
{
	static const int flags[] = { O_RDWR, O_RDONLY, O_WRONLY };
	__u32 max;
	int fd;

	ASSERT_EQ(0, close(ws_create(WS_MNT "/file")));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		fd = ws_open(WS_MNT "/file", flags[i]);
		ASSERT_LE(0, fd);
		max = ~0U;
		EXPECT_EQ(0, ws_max(fd, &max));
		EXPECT_EQ(WS_STREAMS, max);
		close(fd);
	}

	max = ~0U;
	EXPECT_EQ(0, ws_max(self->dir, &max));
	EXPECT_EQ(WS_STREAMS, max);

	ASSERT_EQ(0, mkdir(WS_MNT "/sub", 0755));
	fd = ws_open(WS_MNT "/sub", O_RDONLY);
	max = ~0U;
	EXPECT_EQ(0, ws_max(fd, &max));
	EXPECT_EQ(WS_STREAMS, max);
}

static int max_in_userns(int fd, int unused)
{
	__u32 max = ~0U;
	int ret;

	ret = ws_in_userns();
	if (!ret)
		ret = ws_max(fd, &max);
	return ret ?: (int)max;
}

TEST_F(wsfs, any_caller)
{
	__u32 max = ~0U;

	ASSERT_EQ(0, ws_become(WS_USER));
	EXPECT_EQ(0, ws_max(self->dir, &max));
	EXPECT_EQ(WS_STREAMS, max);
	ws_become_root();

	EXPECT_EQ(WS_STREAMS, ws_in_child(max_in_userns, self->dir, 0));
}

TEST_F(wsfs, reserved_streams_count)
{
	__u32 max = ~0U;
	int fd;

	for (int i = 0; i < WS_STREAMS; i++)
		ASSERT_LE(0, ws_alloc(self->dir));
	EXPECT_EQ(0, ws_max(self->dir, &max));
	EXPECT_EQ(WS_STREAMS, max);

	fd = ws_create(WS_MNT "/file");
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ws_max(fd, &max));
	EXPECT_EQ(WS_STREAMS, max);
}

TEST_F(wsfs, reserves_nothing)
{
	__u32 max;

	for (int i = 0; i < 2 * WS_STREAMS; i++)
		EXPECT_EQ(0, ws_max(self->dir, &max));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

TEST_F(wsfs, stores_four_bytes)
{
	__u32 max[3] = { 0xa5a5a5a5, ~0U, 0xa5a5a5a5 };

	EXPECT_EQ(0, ws_max(self->dir, &max[1]));
	EXPECT_EQ(0xa5a5a5a5, max[0]);
	EXPECT_EQ(WS_STREAMS, max[1]);
	EXPECT_EQ(0xa5a5a5a5, max[2]);
}

TEST_F(wsfs, efault)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *page = ws_page(PROT_READ | PROT_WRITE);

	EXPECT_EQ(-EFAULT, ws_max(self->dir, NULL));
	EXPECT_EQ(-EFAULT, ws_max(self->dir, (void *)(page + size)));
	EXPECT_EQ(-EFAULT, ws_max(self->dir, (void *)(page + size - 2)));
	EXPECT_EQ(-EFAULT, ws_max(self->dir, (void *)-4096L));
	EXPECT_EQ(-EFAULT, ws_max(self->dir, (void *)ws_page(PROT_READ)));
	EXPECT_EQ(-EFAULT, ws_max(self->dir, (void *)ws_page(PROT_NONE)));

	/* the last place where the answer fits */
	EXPECT_EQ(0, ws_max(self->dir, (void *)(page + size - 4)));
	EXPECT_EQ(WS_STREAMS, *(__u32 *)(page + size - 4));
}

/* The number by lower filesystem and mount option. */
FIXTURE(count) {};

FIXTURE_VARIANT(count)
{
	const char *lower;
	const char *options;
	__u32 max;
};

FIXTURE_VARIANT_ADD(count, none)
{
	.lower = WS_XFS, .options = "streams=0", .max = 0,
};

FIXTURE_VARIANT_ADD(count, one)
{
	.lower = WS_XFS, .options = "streams=1", .max = 1,
};

/* more than there are AGs */
FIXTURE_VARIANT_ADD(count, forty)
{
	.lower = WS_XFS, .options = "streams=40", .max = 40,
};

FIXTURE_VARIANT_ADD(count, most)
{
	.lower = WS_XFS, .options = "streams=1024", .max = 1024,
};

/* half the number of AGs from 8 AGs on */
FIXTURE_VARIANT_ADD(count, by_default)
{
	.lower = WS_XFS, .options = NULL, .max = WS_AGCOUNT / 2,
};

FIXTURE_VARIANT_ADD(count, not_xfs)
{
	.lower = WS_TMP, .options = NULL, .max = 0,
};

FIXTURE_SETUP(count)
{
	ASSERT_EQ(0, ws_xfs_up(NULL));
	ASSERT_EQ(0, ws_mount(variant->lower, WS_MNT, "wsfs", 0,
			      variant->options));
}

FIXTURE_TEARDOWN(count)
{
	EXPECT_EQ(0, ws_down());
}

TEST_F(count, on_file_and_directory)
{
	__u32 max = ~0U;
	int dir, fd;

	dir = ws_open(WS_MNT, O_RDONLY);
	ASSERT_LE(0, dir);
	EXPECT_EQ(0, ws_max(dir, &max));
	EXPECT_EQ(variant->max, max);

	max = ~0U;
	fd = ws_create(WS_MNT "/file");
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ws_max(fd, &max));
	EXPECT_EQ(variant->max, max);
}

TEST_HARNESS_MAIN
