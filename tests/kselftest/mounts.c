// SPDX-License-Identifier: GPL-2.0
/* Several wsfs mounts, and streams that outlive them. */
#include <stdio.h>
#include <sys/syscall.h>

#include "wsfs_fixture.h"

/* A second mount over the XFS: of its root again, or of one directory. */
FIXTURE(two)
{
	int dir;
	int dir2;
};

FIXTURE_VARIANT(two)
{
	const char *source;
};

FIXTURE_VARIANT_ADD(two, same_directory) { .source = WS_XFS };
FIXTURE_VARIANT_ADD(two, subdirectory) { .source = WS_XFS "/sub/deeper" };
FIXTURE_VARIANT_ADD(two, bind_mount) { .source = WS_XFS2 };

FIXTURE_SETUP(two)
{
	ASSERT_EQ(0, ws_up());
	ASSERT_EQ(0, mkdir(WS_XFS "/sub", 0755));
	ASSERT_EQ(0, mkdir(WS_XFS "/sub/deeper", 0755));
	ASSERT_EQ(0, ws_mount(WS_XFS "/sub", WS_XFS2, NULL, MS_BIND, NULL));
	ASSERT_EQ(0, ws_mount(variant->source, WS_MNT2, "wsfs", 0,
			      WS_OPTIONS));
	self->dir = ws_open(WS_MNT, O_RDONLY);
	self->dir2 = ws_open(WS_MNT2, O_RDONLY);
	ASSERT_LE(0, self->dir2);
}

FIXTURE_TEARDOWN(two)
{
	EXPECT_EQ(0, ws_down());
}

TEST_F(two, share_the_pool)
{
	__u32 max = 0;

	EXPECT_EQ(0, ws_max(self->dir2, &max));
	EXPECT_EQ(WS_STREAMS, max);
	for (int i = 0; i < WS_STREAMS; i++)
		ASSERT_LE(0, ws_alloc(i % 2 ? self->dir : self->dir2));
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir2));
}

TEST_F(two, stream_of_one_is_set_in_the_other)
{
	struct ws_fdinfo info;
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT2 "/file");
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	ASSERT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(1, info.files);
	EXPECT_EQ(4096, info.bytes);

	s = ws_alloc(self->dir2);
	fd = ws_create(WS_MNT "/another");
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
}

TEST_F(two, stream_stays_while_one_mount_does)
{
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT2 "/file");
	ASSERT_EQ(0, ws_set(fd, s));
	close(self->dir);
	ASSERT_EQ(0, ws_umount(WS_MNT));

	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(WS_STREAMS - 1, ws_free_streams(WS_MNT2));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_set(ws_create(WS_MNT2 "/another"), s));
}

TEST_F(two, files_are_the_same)
{
	int fd, fd2;

	if (strcmp(variant->source, WS_XFS))
		SKIP(return, "the mounts show different directories");
	fd = ws_create(WS_MNT "/file");
	fd2 = ws_open(WS_MNT2 "/file", O_RDWR);
	ASSERT_LE(0, fd2);
	ASSERT_EQ(0, ws_set(fd, ws_alloc(self->dir)));
	EXPECT_EQ(1, ws_has_stream(fd2));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd2, 0, 4096, 'x'));
}

TEST_F(wsfs, stream_count_has_to_agree)
{
	EXPECT_EQ(-EBUSY, ws_mount(WS_XFS, WS_MNT2, "wsfs", 0, "streams=8"));
	EXPECT_EQ(-EBUSY, ws_mount(WS_XFS, WS_MNT2, "wsfs", 0, "streams=0"));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));

	/* another count is fine when nobody holds the filesystem any more */
	close(self->dir);
	ASSERT_EQ(0, ws_umount(WS_MNT));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, "streams=8"));
	EXPECT_EQ(8, ws_free_streams(WS_MNT));
}

TEST_F(wsfs, two_filesystems_have_a_pool_each)
{
	int dir2;

	ASSERT_EQ(0, ws_up2());
	dir2 = ws_open(WS_MNT2, O_RDONLY);
	for (int i = 0; i < WS_STREAMS; i++) {
		ASSERT_LE(0, ws_alloc(self->dir));
		ASSERT_LE(0, ws_alloc(dir2));
	}
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	EXPECT_EQ(-ENOSPC, ws_alloc(dir2));
}

TEST_F(wsfs, options_are_shown)
{
	char line[512];
	bool shown = false;
	FILE *mounts;

	mounts = fopen("/proc/self/mounts", "r");
	ASSERT_NE(NULL, mounts);
	while (fgets(line, sizeof(line), mounts))
		if (strstr(line, " " WS_MNT " wsfs "))
			shown |= !!strstr(line, "streams=4");
	fclose(mounts);
	EXPECT_TRUE(shown);
}

TEST_F(wsfs, open_file_keeps_the_mount_busy)
{
	int fd = ws_create(WS_MNT "/file");

	close(self->dir);
	EXPECT_EQ(-EBUSY, ws_umount(WS_MNT));
	close(fd);
	EXPECT_EQ(0, ws_umount(WS_MNT));
}

/* The XFS cannot go away below wsfs, whatever umount says. */
TEST_F(wsfs, lower_umount)
{
	int fd, ret;

	fd = ws_create(WS_MNT "/file");
	ret = ws_umount(WS_XFS);
	EXPECT_TRUE(!ret || ret == -EBUSY);
	EXPECT_EQ(0, ws_set(fd, ws_alloc(self->dir)));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, fsync(fd));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
}

TEST_F(wsfs, umount_leaves_the_disk_free)
{
	int fd, disk;

	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, ws_alloc(self->dir)));
	ASSERT_EQ(0, ws_fill(fd, 0, 65536, 'x'));
	close_range(3, ~0U, 0);
	ASSERT_EQ(0, ws_umount(WS_MNT));
	ASSERT_EQ(0, ws_umount(WS_XFS));
	disk = open(ws_disk(0), O_RDWR | O_EXCL);
	EXPECT_LE(0, disk);
	close(disk);
}

static int delete_module(const char *name)
{
	return ws_errno(syscall(SYS_delete_module, name, O_NONBLOCK));
}

TEST_F(wsfs, stream_outlives_the_mount)
{
	struct ws_fdinfo info;
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	close(fd);
	close(self->dir);

	/* the stream holds the module, not the filesystem */
	ASSERT_EQ(0, ws_umount(WS_MNT));
	EXPECT_EITHER(-EWOULDBLOCK, -EBUSY, delete_module("wsfs"));
	EXPECT_EITHER(0, -ENODATA, ws_fdinfo(s, &info));

	/* and it is no stream of the next mount */
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
	fd = ws_open(WS_MNT "/file", O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ws_has_stream(fd));
	EXPECT_EQ(-EXDEV, ws_set(fd, s));
	EXPECT_EQ(0, ws_has_stream(fd));
	EXPECT_EITHER(0, -ENODATA, ws_fdinfo(s, &info));
	EXPECT_EQ(0, close(s));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
}

TEST_F(wsfs, stream_outlives_the_disk)
{
	struct ws_fdinfo info;
	int s;

	s = ws_alloc(self->dir);
	close(self->dir);
	ASSERT_EQ(0, ws_umount(WS_MNT));
	ASSERT_EQ(0, ws_umount(WS_XFS));
	ASSERT_EQ(0, ws_mkfs(0));
	ASSERT_EQ(0, ws_mount(ws_disk(0), WS_XFS, "xfs", 0, NULL));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS));
	EXPECT_EQ(-EXDEV, ws_set(ws_create(WS_MNT "/file"), s));
	EXPECT_EITHER(0, -ENODATA, ws_fdinfo(s, &info));
}

TEST_F(wsfs, mounted_module_cannot_go)
{
	EXPECT_EITHER(-EWOULDBLOCK, -EBUSY, delete_module("wsfs"));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

/* A lazily detached mount goes when its last file does. */
TEST_F(wsfs, lazy_umount)
{
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_errno(umount2(WS_MNT, MNT_DETACH)));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
	close(fd);
	close(s);
	close(self->dir);
}

TEST_HARNESS_MAIN
