// SPDX-License-Identifier: GPL-2.0
/*
 * A read-only wsfs, over an XFS that is read-only or not: EROFS, and nothing is
 * changed. That a read-only XFS is not mounted over unnoticed: bad_mount.c.
 */
#include "wsfs_fixture.h"

FIXTURE(readonly)
{
	int fd;			/* the file, opened for reading */
};

FIXTURE_VARIANT(readonly)
{
	unsigned long lower_flags;
};

FIXTURE_VARIANT_ADD(readonly, wsfs_alone) { .lower_flags = 0 };
FIXTURE_VARIANT_ADD(readonly, lower_too) { .lower_flags = MS_RDONLY };

FIXTURE_SETUP(readonly)
{
	int fd;

	ASSERT_EQ(0, ws_xfs_up(NULL));
	fd = ws_create(WS_XFS "/file");
	ASSERT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	close(fd);
	ASSERT_EQ(0, ws_umount(WS_XFS));

	ASSERT_EQ(0, ws_mount(ws_disk(0), WS_XFS, "xfs",
			      variant->lower_flags, NULL));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", MS_RDONLY, WS_OPTIONS));
	self->fd = ws_open(WS_MNT "/file", O_RDONLY);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(readonly)
{
	EXPECT_EQ(0, ws_verify(self->fd, 0, 4096, 'x'));
	close_range(self->fd, self->fd, 0);
	EXPECT_EQ(0, ws_umount(WS_MNT));
	EXPECT_EQ(0, ws_umount(WS_XFS));
	EXPECT_EQ(0, ws_mount(ws_disk(0), WS_XFS, "xfs", MS_RDONLY, NULL));
	EXPECT_TRUE(ws_lists(WS_XFS, "file"));
	if (variant->lower_flags & MS_RDONLY)
		EXPECT_EQ(1, ws_entries(WS_XFS));
	EXPECT_EQ(0, ws_down());
}

TEST_F(readonly, erofs_names)
{
	EXPECT_EQ(-EROFS, ws_create(WS_MNT "/new"));
	EXPECT_EQ(-EROFS, ws_errno(mkdir(WS_MNT "/new", 0755)));
	EXPECT_EQ(-EROFS, ws_errno(symlink("file", WS_MNT "/new")));
	EXPECT_EQ(-EROFS, ws_errno(link(WS_MNT "/file", WS_MNT "/new")));
	EXPECT_EQ(-EROFS, ws_errno(rename(WS_MNT "/file", WS_MNT "/new")));
	EXPECT_EQ(-EROFS, ws_errno(unlink(WS_MNT "/file")));
	EXPECT_EQ(-EROFS, ws_open(WS_MNT, O_TMPFILE | O_RDWR));
	EXPECT_EQ(1, ws_entries(WS_MNT));
}

TEST_F(readonly, erofs_contents)
{
	EXPECT_EQ(-EROFS, ws_open(WS_MNT "/file", O_RDWR));
	EXPECT_EQ(-EROFS, ws_open(WS_MNT "/file", O_WRONLY));
	EXPECT_EQ(-EROFS, ws_open(WS_MNT "/file", O_RDONLY | O_TRUNC));
	EXPECT_EQ(-EROFS, ws_errno(truncate(WS_MNT "/file", 0)));
	EXPECT_EQ(-EROFS, ws_errno(chmod(WS_MNT "/file", 0600)));
	EXPECT_EQ(-EROFS, ws_errno(chown(WS_MNT "/file", 1, 1)));
	EXPECT_EQ(-EROFS, ws_errno(utimensat(AT_FDCWD, WS_MNT "/file", NULL,
					     0)));
	EXPECT_EQ(-EROFS, ws_chattr(self->fd, FS_NODUMP_FL, 0));
}

TEST_F(readonly, set)
{
	int s = ws_alloc(self->fd);

	/* a stream to set is a matter of taste here; setting it is not */
	EXPECT_TRUE(s >= 0 || s == -EROFS || s == -EOPNOTSUPP);
	EXPECT_EITHER(-EBADF, -EROFS, ws_set(self->fd, s));
	EXPECT_EITHER(-EBADF, -EROFS, ws_clear(self->fd));
	EXPECT_EQ(0, ws_has_stream(self->fd));
}

TEST_F(readonly, questions_are_answered)
{
	struct wsfs_geometry geo;
	__u32 max = ~0U;

	EXPECT_EQ(0, ws_max(self->fd, &max));
	EXPECT_TRUE(max == 0 || max == WS_STREAMS);
	EXPECT_EQ(0, ws_ioctl(self->fd, WSFS_IOC_GEOMETRY, &geo));
	EXPECT_EQ(WS_AGCOUNT, geo.agcount);
}

TEST_F(wsfs, remount_read_only_and_back)
{
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	EXPECT_EQ(-EBUSY, ws_mount(NULL, WS_MNT, NULL,
				   MS_REMOUNT | MS_RDONLY, NULL));
	close(fd);
	ASSERT_EQ(0, ws_mount(NULL, WS_MNT, NULL, MS_REMOUNT | MS_RDONLY,
			      NULL));
	EXPECT_EQ(-EROFS, ws_open(WS_MNT "/file", O_RDWR));
	EXPECT_EQ(-EROFS, ws_create(WS_MNT "/new"));

	ASSERT_EQ(0, ws_mount(NULL, WS_MNT, NULL, MS_REMOUNT, NULL));
	fd = ws_open(WS_MNT "/file", O_RDWR);
	ASSERT_LE(0, fd);
	s = ws_alloc(self->dir);
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
}

/* The XFS turns read-only while wsfs is mounted over it. */
TEST_F(wsfs, lower_remounted_read_only)
{
	int fd = ws_create(WS_MNT "/file");

	ASSERT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	close(fd);
	ASSERT_EQ(0, ws_mount(NULL, WS_XFS, NULL, MS_REMOUNT | MS_RDONLY,
			      NULL));
	EXPECT_EQ(-EROFS, ws_create(WS_MNT "/new"));
	EXPECT_EQ(-EROFS, ws_open(WS_MNT "/file", O_RDWR));
	EXPECT_EQ(-EROFS, ws_errno(unlink(WS_MNT "/file")));
	fd = ws_open(WS_MNT "/file", O_RDONLY);
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
	close(fd);

	ASSERT_EQ(0, ws_mount(NULL, WS_XFS, NULL, MS_REMOUNT, NULL));
	fd = ws_open(WS_MNT "/file", O_RDWR);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, ws_set(fd, ws_alloc(self->dir)));
}

TEST_HARNESS_MAIN
