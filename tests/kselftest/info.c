// SPDX-License-Identifier: GPL-2.0
/* What wsfs tells: its own ioctls and sysfs, checked against the disk. */
#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "wsfs_fixture.h"

/* The fields of the XFS superblock that count here. */
struct superblock {
	__u32 blocksize;
	__u32 agblocks;
	__u32 agcount;
	int	agino_bits;
};

static int read_superblock(struct superblock *sb)
{
	unsigned char buf[512];
	int fd = ws_open(ws_disk(0), O_RDONLY);
	__u32 be;

	if (fd < 0)
		return fd;
	if (pread(fd, buf, sizeof(buf), 0) != sizeof(buf))
		return -EIO;
	close(fd);
	if (memcmp(buf, "XFSB", 4))
		return -EINVAL;
	memcpy(&be, &buf[4], 4);
	sb->blocksize = be32toh(be);
	memcpy(&be, &buf[84], 4);
	sb->agblocks = be32toh(be);
	memcpy(&be, &buf[88], 4);
	sb->agcount = be32toh(be);
	sb->agino_bits = buf[123] + buf[124];	/* inopblog, agblklog */
	return 0;
}

TEST_F(wsfs, geometry)
{
	struct wsfs_geometry geo;
	struct superblock sb;
	struct stat st;
	char path[PATH_MAX];
	int fd;

	memset(&geo, 0xa5, sizeof(geo));
	ASSERT_EQ(0, read_superblock(&sb));
	ASSERT_EQ(0, stat(WS_XFS, &st));
	ASSERT_EQ(0, ws_ioctl(self->dir, WSFS_IOC_GEOMETRY, &geo));
	EXPECT_EQ(sb.blocksize, geo.blocksize);
	EXPECT_EQ(sb.agblocks, geo.agblocks);
	EXPECT_EQ(sb.agcount, geo.agcount);
	EXPECT_EQ(WS_AGCOUNT, geo.agcount);
	EXPECT_EQ(WS_STREAMS, geo.streams);
	EXPECT_EQ(major(st.st_dev), geo.lower_major);
	EXPECT_EQ(minor(st.st_dev), geo.lower_minor);
	for (size_t i = 0; i < ARRAY_SIZE(geo.reserved); i++)
		EXPECT_EQ(0, geo.reserved[i]);
	ASSERT_GT(WSFS_DEV_NAME_LEN, strnlen(geo.dev, WSFS_DEV_NAME_LEN));
	ASSERT_NE(NULL, realpath(ws_disk(0), path));
	EXPECT_STREQ(strrchr(path, '/') + 1, geo.dev);
	snprintf(path, sizeof(path), "/sys/fs/wsfs/%s", geo.dev);
	EXPECT_EQ(0, access(path, F_OK));

	/* the same from a file, to anybody */
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_become(WS_USER));
	EXPECT_EQ(0, ws_ioctl(fd, WSFS_IOC_GEOMETRY, &geo));
	EXPECT_EQ(sb.agcount, geo.agcount);
	ws_become_root();
}

TEST_F(wsfs, file_info_without_a_stream)
{
	struct wsfs_file_info info;
	struct superblock sb;
	struct stat st;
	int fd;

	ASSERT_EQ(0, read_superblock(&sb));
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, stat(WS_XFS "/file", &st));
	ASSERT_EQ(0, ws_info(fd, &info));
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(st.st_ino >> sb.agino_bits, info.inode_agno);
	for (size_t i = 0; i < ARRAY_SIZE(info.reserved); i++)
		EXPECT_EQ(0, info.reserved[i]);

	ASSERT_EQ(0, ws_info(self->dir, &info));
	EXPECT_EQ(0, info.flags);
	ASSERT_EQ(0, stat(WS_XFS, &st));
	EXPECT_EQ(st.st_ino >> sb.agino_bits, info.inode_agno);
}

TEST_F(wsfs, file_info_with_a_stream)
{
	struct wsfs_file_info info;
	struct ws_fdinfo fdinfo;
	struct superblock sb;
	struct stat st;
	int s, fd;

	ASSERT_EQ(0, read_superblock(&sb));
	s = ws_alloc(self->dir);
	ASSERT_EQ(0, ws_fdinfo(s, &fdinfo));
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, stat(WS_XFS "/file", &st));

	ASSERT_EQ(0, ws_info(fd, &info));
	EXPECT_EQ(WSFS_FILE_STREAM | WSFS_FILE_HOMED, info.flags);
	EXPECT_EQ(fdinfo.stream, info.stream);
	EXPECT_EQ(fdinfo.stream, info.home_agno / WS_AGS_EACH);
	EXPECT_EQ(st.st_ino >> sb.agino_bits, info.inode_agno);
	for (size_t i = 0; i < ARRAY_SIZE(info.reserved); i++)
		EXPECT_EQ(0, info.reserved[i]);

	/* anybody may ask, through any fd */
	fd = ws_open(WS_MNT "/file", O_RDONLY);
	ASSERT_EQ(0, ws_become(WS_USER));
	EXPECT_EQ(1, ws_has_stream(fd));
	ws_become_root();
}

/* Every file starts in the AG of its directory, which is outside one set. */
TEST_F(wsfs, file_info_of_what_cannot_be_moved)
{
	struct wsfs_file_info info;
	struct ws_fdinfo fdinfo;
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, link(WS_MNT "/file", WS_MNT "/link"));
	do {
		s = ws_alloc(self->dir);
		ASSERT_LE(0, s);
		ASSERT_EQ(0, ws_fdinfo(s, &fdinfo));
		ASSERT_EQ(0, ws_info(fd, &info));
	} while (fdinfo.stream == info.inode_agno / WS_AGS_EACH);

	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, ws_info(fd, &info));
	EXPECT_EQ(WSFS_FILE_STREAM | WSFS_FILE_ANCHORED, info.flags);
	EXPECT_EQ(fdinfo.stream, info.stream);
}

TEST_F(wsfs, efault)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *page = ws_page(PROT_READ | PROT_WRITE);
	char *const bad[] = {
		NULL, page + size, page + size - 8, (char *)-4096L,
		ws_page(PROT_READ), ws_page(PROT_NONE),
	};
	int fd = ws_create(WS_MNT "/file");

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EFAULT, ws_ioctl(fd, WSFS_IOC_GEOMETRY, bad[i]));
		EXPECT_EQ(-EFAULT, ws_ioctl(fd, WSFS_IOC_FILE_INFO, bad[i]));
		EXPECT_EQ(-EFAULT, ws_ioctl(self->dir, WSFS_IOC_GEOMETRY,
					    bad[i]));
		EXPECT_EQ(-EFAULT, ws_ioctl(self->dir, WSFS_IOC_FILE_INFO,
					    bad[i]));
	}
	page += size;
	EXPECT_EQ(0, ws_ioctl(fd, WSFS_IOC_GEOMETRY,
			      page - sizeof(struct wsfs_geometry)));
	EXPECT_EQ(0, ws_ioctl(fd, WSFS_IOC_FILE_INFO,
			      page - sizeof(struct wsfs_file_info)));
}

TEST_F(wsfs, statfs)
{
	struct statfs upper, lower;

	ASSERT_EQ(0, statfs(WS_MNT, &upper));
	ASSERT_EQ(0, statfs(WS_XFS, &lower));
	EXPECT_EQ(lower.f_type, upper.f_type);
	EXPECT_EQ(lower.f_bsize, upper.f_bsize);
	EXPECT_EQ(lower.f_blocks, upper.f_blocks);
	EXPECT_EQ(lower.f_files, upper.f_files);
	EXPECT_EQ(lower.f_namelen, upper.f_namelen);
}

TEST_F(wsfs, sysfs_of_the_filesystem)
{
	struct superblock sb;
	char lower[16];

	ASSERT_EQ(0, read_superblock(&sb));
	EXPECT_EQ(0, ws_sysfs_str(WS_MNT, "lower", lower, sizeof(lower)));
	EXPECT_STREQ("xfs", lower);
	EXPECT_EQ(sb.blocksize, ws_sysfs(WS_MNT, "blocksize"));
	EXPECT_EQ(sb.agblocks, ws_sysfs(WS_MNT, "agblocks"));
	EXPECT_EQ(sb.agcount, ws_sysfs(WS_MNT, "agcount"));
	EXPECT_EQ(WS_STREAMS, ws_sysfs(WS_MNT, "streams"));
	EXPECT_EQ(0, ws_sysfs(WS_MNT, "reserved"));
	EXPECT_EQ(0, ws_sysfs(WS_MNT, "hints_reset"));
}

static long long of_stream(int id, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "stream/%d/%s", id, name);
	return ws_sysfs(WS_MNT, path);
}

TEST_F(wsfs, sysfs_of_a_stream)
{
	char path[64], set[64], want[64];
	struct ws_fdinfo info;
	int s, id, fd, linked;

	for (id = 0; id < WS_STREAMS; id++) {
		snprintf(path, sizeof(path), "stream/%d/ag_set", id);
		snprintf(want, sizeof(want), "%d-%d", id * WS_AGS_EACH,
			 (id + 1) * WS_AGS_EACH - 1);
		EXPECT_EQ(0, ws_sysfs_str(WS_MNT, path, set, sizeof(set)));
		EXPECT_STREQ(want, set);
		EXPECT_EQ(0, of_stream(id, "reserved"));
		EXPECT_EQ(0, of_stream(id, "files"));
		EXPECT_EQ(0, of_stream(id, "homed"));
		EXPECT_EQ(0, of_stream(id, "missed"));
		EXPECT_EQ(0, of_stream(id, "anchored"));
		EXPECT_EQ(0, of_stream(id, "bytes"));
	}
	EXPECT_EQ(-ENOENT, of_stream(WS_STREAMS, "reserved"));

	fd = ws_create(WS_MNT "/file");
	linked = ws_create(WS_MNT "/linked");
	ASSERT_EQ(0, link(WS_MNT "/linked", WS_MNT "/link"));
	do {
		/* not the stream that happens to own these files' AG */
		struct wsfs_file_info at;

		s = ws_alloc(self->dir);
		ASSERT_LE(0, s);
		ASSERT_EQ(0, ws_fdinfo(s, &info));
		ASSERT_EQ(0, ws_info(linked, &at));
		id = at.inode_agno / WS_AGS_EACH;
	} while (info.stream == id);
	id = info.stream;

	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, ws_set(linked, s));
	ASSERT_EQ(0, ws_fill(fd, 0, 12288, 'x'));
	EXPECT_LE(1, ws_sysfs(WS_MNT, "reserved"));
	EXPECT_EQ(1, of_stream(id, "reserved"));
	EXPECT_EQ(2, of_stream(id, "files"));
	EXPECT_EQ(1, of_stream(id, "homed"));
	EXPECT_EQ(0, of_stream(id, "missed"));
	EXPECT_EQ(12288, of_stream(id, "bytes"));
	/* nothing of it to bring home until it has data */
	EXPECT_EQ(0, of_stream(id, "anchored"));
	ASSERT_EQ(0, ws_fill(linked, 0, 12288, 'y'));
	ASSERT_EQ(0, fsync(linked));
	EXPECT_EQ(1, of_stream(id, "anchored"));
	EXPECT_EQ(0, of_stream(id, "missed"));

	/* homed and anchored count since mount, bytes since the reservation */
	close(s);
	EXPECT_EQ(0, of_stream(id, "reserved"));
	EXPECT_EQ(0, of_stream(id, "files"));
	EXPECT_EQ(1, of_stream(id, "homed"));
	EXPECT_EQ(1, of_stream(id, "anchored"));
	do {
		s = ws_alloc(self->dir);
		ASSERT_LE(0, s);
		ASSERT_EQ(0, ws_fdinfo(s, &info));
	} while (info.stream != id);
	EXPECT_EQ(0, of_stream(id, "bytes"));
}

TEST_F(wsfs, sysfs_is_read_only)
{
	struct wsfs_geometry geo;
	char path[256];
	struct stat st;

	ASSERT_EQ(0, ws_ioctl(self->dir, WSFS_IOC_GEOMETRY, &geo));
	snprintf(path, sizeof(path), "/sys/fs/wsfs/%s/streams", geo.dev);
	ASSERT_EQ(0, stat(path, &st));
	EXPECT_EQ(0, st.st_mode & 0222);
}

TEST_F(wsfs, sysfs_goes_with_the_mount)
{
	struct wsfs_geometry geo;
	char path[256];

	ASSERT_EQ(0, ws_ioctl(self->dir, WSFS_IOC_GEOMETRY, &geo));
	snprintf(path, sizeof(path), "/sys/fs/wsfs/%s", geo.dev);
	close(self->dir);
	ASSERT_EQ(0, ws_umount(WS_MNT));
	EXPECT_GT(0, access(path, F_OK));
}

/* Over something that is not XFS. */
FIXTURE(tmpfs)
{
	int kmsg;		/* the kernel log from before the mount on */
};

FIXTURE_SETUP(tmpfs)
{
	ASSERT_EQ(0, ws_namespace());
	self->kmsg = ws_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, self->kmsg);
	ASSERT_LE(0, lseek(self->kmsg, 0, SEEK_END));
	ASSERT_EQ(0, ws_mount(WS_TMP, WS_MNT, "wsfs", 0, NULL));
}

FIXTURE_TEARDOWN(tmpfs)
{
	EXPECT_EQ(0, ws_down());
}

TEST_F(tmpfs, geometry_and_file_info)
{
	struct wsfs_geometry geo;
	struct wsfs_file_info info;
	struct stat st;
	int fd = ws_create(WS_MNT "/file");

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, stat(WS_TMP, &st));
	ASSERT_EQ(0, ws_ioctl(fd, WSFS_IOC_GEOMETRY, &geo));
	EXPECT_EQ(0, geo.agblocks);
	EXPECT_EQ(0, geo.streams);
	EXPECT_EQ(major(st.st_dev), geo.lower_major);
	EXPECT_EQ(minor(st.st_dev), geo.lower_minor);
	ASSERT_EQ(0, ws_info(fd, &info));
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(~0U, info.inode_agno);
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
}

TEST_F(tmpfs, kernel_log_says_so_once)
{
	int said = 0, fd = ws_create(WS_MNT "/file");
	char line[1024];
	ssize_t len;
	__u32 max;

	EXPECT_EQ(0, ws_max(fd, &max));
	EXPECT_EQ(-EOPNOTSUPP, ws_alloc(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	while ((len = read(self->kmsg, line, sizeof(line) - 1)) > 0) {
		line[len] = '\0';
		said += !!strstr(line, "wsfs");
	}
	EXPECT_EQ(1, said);
}

/* Nothing is wsfs's own there: the hidden directory is a matter of XFS. */
TEST_F(tmpfs, leaves_nothing_behind)
{
	ASSERT_EQ(0, close(ws_create(WS_MNT "/file")));
	ASSERT_EQ(0, unlink(WS_MNT "/file"));
	ASSERT_EQ(0, ws_umount(WS_MNT));
	EXPECT_EQ(0, ws_entries(WS_TMP));
}

TEST_HARNESS_MAIN
