// SPDX-License-Identifier: GPL-2.0
/* WSFS_IOC_SET_DIR: each way, each errno; placement is pytest's. */
#include "wsfs_fixture.h"

FIXTURE(dir)
{
	int root;
	int dir;
	int file;
	int stream;
};

FIXTURE_SETUP(dir)
{
	ASSERT_EQ(0, ws_up());
	self->root = ws_open(WS_MNT, O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->root);
	self->stream = ws_alloc(self->root);
	ASSERT_LE(0, self->stream);
	ASSERT_EQ(0, mkdir(WS_MNT "/d", 0755));
	self->dir = ws_open(WS_MNT "/d", O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->dir);
	self->file = ws_create(WS_MNT "/file");
	ASSERT_LE(0, self->file);
}

FIXTURE_TEARDOWN(dir)
{
	ws_become_root();
	EXPECT_EQ(0, ws_down());
}

static int set_dir(int fd, __u32 how, int stream)
{
	struct wsfs_dir_place place = { .how = how, .stream_fd = stream };

	return ws_ioctl(fd, WSFS_IOC_SET_DIR, &place);
}

static int how_of(int fd)
{
	struct wsfs_file_info info;

	return ws_info(fd, &info) ?: (int)info.dir_how;
}

TEST_F(dir, each_way)
{
	int fd;

	EXPECT_EQ(WSFS_DIR_DEFAULT, how_of(self->dir));
	EXPECT_EQ(0, set_dir(self->dir, WSFS_DIR_STREAM, self->stream));
	EXPECT_EQ(WSFS_DIR_STREAM, how_of(self->dir));
	EXPECT_EQ(1, ws_has_stream(self->dir));
	fd = ws_create(WS_MNT "/d/in");
	EXPECT_EQ(1, ws_has_stream(fd));
	for (__u32 how = WSFS_DIR_NEAR; how <= WSFS_DIR_SPREAD_FREE; how++) {
		EXPECT_EQ(0, set_dir(self->dir, how, -1));
		EXPECT_EQ(how, how_of(self->dir));
		EXPECT_EQ(0, ws_has_stream(self->dir));
	}
	EXPECT_EQ(0, set_dir(self->dir, WSFS_DIR_DEFAULT, -1));
	EXPECT_EQ(WSFS_DIR_DEFAULT, how_of(self->dir));
	EXPECT_EQ(0, ws_has_stream(ws_create(WS_MNT "/d/after")));
	EXPECT_EQ(1, ws_has_stream(fd));
}

TEST_F(dir, einval)
{
	struct wsfs_dir_place place = { .how = WSFS_DIR_NEAR, .stream_fd = -1 };

	EXPECT_EQ(-EINVAL, set_dir(self->dir, WSFS_DIR_SPREAD_FREE + 1, -1));
	EXPECT_EQ(-EINVAL, set_dir(self->dir, ~0U, -1));
	EXPECT_EQ(-EINVAL, set_dir(self->dir, WSFS_DIR_DEFAULT, self->stream));
	EXPECT_EQ(-EINVAL, set_dir(self->dir, WSFS_DIR_SPREAD, self->stream));
	EXPECT_EQ(-EINVAL, set_dir(self->dir, WSFS_DIR_NEAR, 0));
	EXPECT_EQ(-EINVAL, set_dir(self->dir, WSFS_DIR_STREAM, self->file));
	for (size_t i = 0; i < ARRAY_SIZE(place.reserved); i++) {
		place.reserved[i] = 1;
		EXPECT_EQ(-EINVAL, ws_ioctl(self->dir, WSFS_IOC_SET_DIR,
					    &place));
		place.reserved[i] = 0;
	}
	EXPECT_EQ(WSFS_DIR_DEFAULT, how_of(self->dir));
}

TEST_F(dir, ebadf)
{
	EXPECT_EQ(-EBADF, set_dir(self->dir, WSFS_DIR_STREAM, -1));
	EXPECT_EQ(-EBADF, set_dir(self->dir, WSFS_DIR_STREAM, 9999));
}

TEST_F(dir, enotdir)
{
	EXPECT_EQ(-ENOTDIR, set_dir(self->file, WSFS_DIR_STREAM, self->stream));
	EXPECT_EQ(-ENOTDIR, set_dir(self->file, WSFS_DIR_DEFAULT, -1));
}

TEST_F(dir, efault)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *page = ws_page(PROT_READ);

	EXPECT_EQ(-EFAULT, ws_ioctl(self->dir, WSFS_IOC_SET_DIR, NULL));
	EXPECT_EQ(-EFAULT, ws_ioctl(self->dir, WSFS_IOC_SET_DIR,
				    page + size - 8));
}

TEST_F(dir, exdev)
{
	int other, stream;

	ASSERT_EQ(0, ws_up2());
	other = ws_open(WS_MNT2, O_RDONLY | O_DIRECTORY);
	stream = ws_alloc(other);
	ASSERT_LE(0, stream);
	EXPECT_EQ(-EXDEV, set_dir(self->dir, WSFS_DIR_STREAM, stream));
	EXPECT_EQ(0, set_dir(other, WSFS_DIR_STREAM, stream));
}

TEST_F(dir, eperm)
{
	int fd;

	ASSERT_EQ(0, ws_become(WS_USER));
	fd = ws_open(WS_MNT "/d", O_RDONLY | O_DIRECTORY);
	EXPECT_LE(0, fd);
	EXPECT_EQ(-EPERM, set_dir(fd, WSFS_DIR_STREAM, self->stream));
	EXPECT_EQ(-EPERM, set_dir(fd, WSFS_DIR_SPREAD, -1));
	ws_become_root();
	ASSERT_EQ(0, ws_chattr(self->dir, FS_IMMUTABLE_FL, 0));
	EXPECT_EQ(-EPERM, set_dir(self->dir, WSFS_DIR_STREAM, self->stream));
	ASSERT_EQ(0, ws_chattr(self->dir, 0, FS_IMMUTABLE_FL));
	EXPECT_EQ(0, set_dir(self->dir, WSFS_DIR_STREAM, self->stream));
}

/* A directory that is gone */
TEST_F(dir, enoent)
{
	ASSERT_EQ(0, rmdir(WS_MNT "/d"));
	EXPECT_EQ(-ENOENT, set_dir(self->dir, WSFS_DIR_STREAM, self->stream));
}

TEST_F(dir, erofs)
{
	int fd;

	ASSERT_EQ(0, ws_mount(WS_MNT, WS_TMP, NULL, MS_BIND, NULL));
	ASSERT_EQ(0, ws_mount(NULL, WS_TMP, NULL,
			      MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
	fd = ws_open(WS_TMP "/d", O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EROFS, set_dir(fd, WSFS_DIR_STREAM, self->stream));
	close(fd);
	EXPECT_EQ(0, ws_umount(WS_TMP));
}

TEST_HARNESS_MAIN
