// SPDX-License-Identifier: GPL-2.0
/* FS_IOC_WRITE_STREAM_SET where it succeeds: setting, changing, clearing. */
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include "wsfs_fixture.h"

/* First AG of the set of a stream fd. */
static int first_ag(int stream)
{
	struct ws_fdinfo info;
	int ret = ws_fdinfo(stream, &info);

	return ret ?: info.stream * WS_AGS_EACH;
}

static bool is_homed(int fd)
{
	struct wsfs_file_info info;

	return !ws_info(fd, &info) &&
	       info.flags == (WSFS_FILE_STREAM | WSFS_FILE_HOMED) &&
	       info.inode_agno == info.home_agno;
}

TEST_F(wsfs, empty_file_is_homed)
{
	struct wsfs_geometry geo;
	struct wsfs_file_info info;
	struct ws_fdinfo fdinfo;
	int s, fd, agno;

	ASSERT_EQ(0, ws_ioctl(self->dir, WSFS_IOC_GEOMETRY, &geo));
	for (int i = 0; i < WS_STREAMS; i++) {
		char path[64];

		s = ws_alloc(self->dir);
		ASSERT_LE(0, s);
		ASSERT_EQ(0, ws_fdinfo(s, &fdinfo));
		snprintf(path, sizeof(path), WS_MNT "/file%d", i);
		fd = ws_create(path);
		ASSERT_LE(0, fd);
		EXPECT_EQ(0, ws_set(fd, s));

		ASSERT_EQ(0, ws_info(fd, &info));
		EXPECT_EQ(WSFS_FILE_STREAM | WSFS_FILE_HOMED, info.flags);
		EXPECT_EQ(fdinfo.stream, info.stream);
		EXPECT_LE(first_ag(s), info.home_agno);
		EXPECT_GT(first_ag(s) + WS_AGS_EACH, info.home_agno);
		EXPECT_EQ(info.home_agno, info.inode_agno);

		ASSERT_EQ(0, ws_fill(fd, 0, 65536, 'x'));
		ASSERT_EQ(0, fsync(fd));
		agno = ws_data_agno(fd, &geo);
		EXPECT_LE(first_ag(s), agno);
		EXPECT_GT(first_ag(s) + WS_AGS_EACH, agno);
		EXPECT_EQ(0, ws_verify(fd, 0, 65536, 'x'));
	}
}

TEST_F(wsfs, files_of_a_stream_take_turns)
{
	int count[WS_AGCOUNT] = { 0 }, s, fd, first;
	struct wsfs_file_info info;
	char path[64];

	s = ws_alloc(self->dir);
	ASSERT_LE(0, s);
	for (int i = 0; i < 4 * WS_AGS_EACH; i++) {
		snprintf(path, sizeof(path), WS_MNT "/file%d", i);
		fd = ws_create(path);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ws_set(fd, s));
		ASSERT_EQ(0, ws_info(fd, &info));
		ASSERT_GT(WS_AGCOUNT, info.home_agno);
		count[info.home_agno]++;
	}
	first = first_ag(s);
	for (int i = 0; i < WS_AGCOUNT; i++)
		EXPECT_EQ(i >= first && i < first + WS_AGS_EACH ? 4 : 0,
			  count[i]);
}

TEST_F(wsfs, files_share_a_stream)
{
	struct ws_fdinfo info;
	int s, a, b;

	s = ws_alloc(self->dir);
	a = ws_create(WS_MNT "/a");
	b = ws_create(WS_MNT "/b");
	EXPECT_EQ(0, ws_set(a, s));
	EXPECT_EQ(0, ws_set(b, s));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(2, info.files);
}

TEST_F(wsfs, open_files_follow)
{
	int s, setter, writer, reader;

	setter = ws_create(WS_MNT "/file");
	s = ws_alloc_away(setter);
	writer = ws_open(WS_MNT "/file", O_WRONLY);
	reader = ws_open(WS_MNT "/file", O_RDONLY);
	ASSERT_EQ(0, ws_set(setter, s));

	EXPECT_TRUE(is_homed(setter));
	EXPECT_EQ(1, ws_has_stream(writer));
	EXPECT_EQ(1, ws_has_stream(reader));
	EXPECT_EQ(0, ws_fill(writer, 0, 8192, 'x'));
	EXPECT_EQ(0, ws_verify(setter, 0, 8192, 'x'));
	EXPECT_EQ(0, ws_verify(reader, 0, 8192, 'x'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_MNT "/file", O_RDONLY),
			       0, 8192, 'x'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_XFS "/file", O_RDONLY),
			       0, 8192, 'x'));
}

TEST_F(wsfs, attributes_stay)
{
	static const struct timespec times[2] = { { 1000, 1 }, { 2000, 2 } };
	struct stat before, after;
	char value[16];
	int s, fd, flags;

	fd = ws_create(WS_MNT "/file");
	ASSERT_LE(0, fd);
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, fchown(fd, 1234, 5678));
	ASSERT_EQ(0, fchmod(fd, 02741));
	ASSERT_EQ(0, fsetxattr(fd, "user.colour", "green", 5, 0));
	ASSERT_EQ(0, fsetxattr(fd, "trusted.shape", "round", 5, 0));
	ASSERT_EQ(0, ws_chattr(fd, FS_NODUMP_FL, 0));
	ASSERT_EQ(0, futimens(fd, times));
	ASSERT_EQ(0, fstat(fd, &before));

	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_TRUE(is_homed(fd));
	ASSERT_EQ(0, fstat(fd, &after));
	EXPECT_EQ(before.st_mode, after.st_mode);
	EXPECT_EQ(before.st_uid, after.st_uid);
	EXPECT_EQ(before.st_gid, after.st_gid);
	EXPECT_EQ(before.st_nlink, after.st_nlink);
	EXPECT_EQ(before.st_size, after.st_size);
	EXPECT_EQ(before.st_dev, after.st_dev);
	EXPECT_EQ(0, memcmp(&before.st_atim, &after.st_atim,
			    sizeof(after.st_atim)));
	EXPECT_EQ(0, memcmp(&before.st_mtim, &after.st_mtim,
			    sizeof(after.st_mtim)));

	EXPECT_EQ(5, fgetxattr(fd, "user.colour", value, sizeof(value)));
	EXPECT_EQ(0, memcmp(value, "green", 5));
	EXPECT_EQ(5, fgetxattr(fd, "trusted.shape", value, sizeof(value)));
	EXPECT_EQ(0, memcmp(value, "round", 5));
	EXPECT_EQ(0, ioctl(fd, FS_IOC_GETFLAGS, &flags));
	EXPECT_EQ(FS_NODUMP_FL, flags & FS_NODUMP_FL);
	EXPECT_EQ(1, ws_entries(WS_MNT));
}

TEST_F(wsfs, again_is_a_no_op)
{
	struct wsfs_file_info first, again;
	struct stat before, after;
	long long homed;
	int s, fd;
	char name[64];
	struct ws_fdinfo info;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, ws_info(fd, &first));
	ASSERT_EQ(0, fstat(fd, &before));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	snprintf(name, sizeof(name), "stream/%d/homed", info.stream);
	homed = ws_sysfs(WS_MNT, name);
	EXPECT_EQ(1, homed);

	EXPECT_EQ(0, ws_set(fd, s));
	/* a copy of the fd is the same stream */
	EXPECT_EQ(0, ws_set(fd, dup(s)));
	ASSERT_EQ(0, ws_info(fd, &again));
	EXPECT_EQ(0, memcmp(&first, &again, sizeof(first)));
	ASSERT_EQ(0, fstat(fd, &after));
	EXPECT_EQ(before.st_ino, after.st_ino);
	EXPECT_EQ(homed, ws_sysfs(WS_MNT, name));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(1, info.files);
}

TEST_F(wsfs, another_stream_replaces_the_first)
{
	struct wsfs_file_info info;
	struct ws_fdinfo first, second;
	int s1, s2, fd;

	s1 = ws_alloc(self->dir);
	s2 = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, s1));
	EXPECT_EQ(0, ws_set(fd, s2));

	ASSERT_EQ(0, ws_fdinfo(s1, &first));
	ASSERT_EQ(0, ws_fdinfo(s2, &second));
	ASSERT_EQ(0, ws_info(fd, &info));
	EXPECT_EQ(WSFS_FILE_STREAM | WSFS_FILE_HOMED, info.flags);
	EXPECT_EQ(second.stream, info.stream);
	EXPECT_EQ(0, first.files);
	EXPECT_EQ(1, second.files);
	EXPECT_EQ(second.stream, info.inode_agno / WS_AGS_EACH);
}

TEST_F(wsfs, clear)
{
	struct ws_fdinfo info;
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(0, ws_clear(fd));
	EXPECT_EQ(0, ws_has_stream(fd));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(0, info.files);

	/* the stream itself is still there */
	EXPECT_EQ(WS_STREAMS - 1, ws_free_streams(WS_MNT));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
}

TEST_F(wsfs, clear_without_a_stream)
{
	int fd = ws_create(WS_MNT "/file");

	EXPECT_EQ(0, ws_clear(fd));
	EXPECT_EQ(0, ws_clear(fd));
	EXPECT_EQ(0, ws_has_stream(fd));
}

/* CLEAR through one fd, of what was SET through another */
TEST_F(wsfs, stream_belongs_to_the_file)
{
	int s, one, other;

	one = ws_create(WS_MNT "/file");
	s = ws_alloc_away(one);
	other = ws_open(WS_MNT "/file", O_WRONLY);
	ASSERT_EQ(0, ws_set(one, s));
	EXPECT_EQ(1, ws_has_stream(other));
	EXPECT_TRUE(is_homed(other));
	EXPECT_EQ(0, ws_clear(other));
	EXPECT_EQ(0, ws_has_stream(one));

	ASSERT_EQ(0, ws_set(one, s));
	ASSERT_EQ(0, rename(WS_MNT "/file", WS_MNT "/renamed"));
	EXPECT_EQ(1, ws_has_stream(ws_open(WS_MNT "/renamed", O_RDONLY)));
}

TEST_F(wsfs, owner_needs_no_capability)
{
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, fchown(fd, WS_USER, WS_USER));
	ASSERT_EQ(0, ws_become(WS_USER));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_TRUE(is_homed(fd));
	EXPECT_EQ(0, ws_clear(fd));
	EXPECT_EQ(0, ws_has_stream(fd));
	ws_become_root();
}

TEST_F(wsfs, capable_caller_need_not_own)
{
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, fchown(fd, WS_USER, WS_USER));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_TRUE(is_homed(fd));
}

/* SET only reads its argument. */
TEST_F(wsfs, argument_may_be_read_only)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct fs_write_stream_set *set;
	int fd;

	fd = ws_create(WS_MNT "/file");
	set = (void *)(ws_page(PROT_READ | PROT_WRITE) + size - sizeof(*set));
	set->stream_fd = ws_alloc(self->dir);
	ASSERT_EQ(0, mprotect((char *)(set + 1) - size, size, PROT_READ));
	EXPECT_EQ(0, ws_set_ptr(fd, set));
	EXPECT_EQ(1, ws_has_stream(fd));
}

/* Every way to have a file open for writing. */
FIXTURE(writable) {};

FIXTURE_VARIANT(writable)
{
	int flags;
};

FIXTURE_VARIANT_ADD(writable, write_only) { .flags = O_WRONLY };
FIXTURE_VARIANT_ADD(writable, append) { .flags = O_WRONLY | O_APPEND };
FIXTURE_VARIANT_ADD(writable, direct) { .flags = O_RDWR | O_DIRECT };
FIXTURE_VARIANT_ADD(writable, sync) { .flags = O_RDWR | O_SYNC };
FIXTURE_VARIANT_ADD(writable, truncate) { .flags = O_RDWR | O_TRUNC };

FIXTURE_SETUP(writable)
{
	ASSERT_EQ(0, ws_up());
}

FIXTURE_TEARDOWN(writable)
{
	EXPECT_EQ(0, ws_down());
}

TEST_F(writable, set_and_write)
{
	int fd, rd;

	ASSERT_EQ(0, close(ws_create(WS_MNT "/file")));
	fd = ws_open(WS_MNT "/file", variant->flags);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ws_set(fd, ws_alloc_away(fd)));
	EXPECT_TRUE(is_homed(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 8192, 'x'));
	rd = ws_open(WS_MNT "/file", O_RDONLY);
	EXPECT_EQ(0, ws_verify(rd, 0, 8192, 'x'));
}

/* Files that SET cannot move carry the stream all the same. */
TEST_F(wsfs, file_with_data)
{
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, ws_fill(fd, 0, 8192, 'x'));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_verify(fd, 0, 8192, 'x'));
	EXPECT_EQ(0, ws_fill(fd, 8192, 8192, 'y'));
	EXPECT_EQ(0, ws_verify(fd, 0, 8192, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 8192, 8192, 'y'));
}

TEST_F(wsfs, preallocated_file)
{
	struct stat st;
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 20));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	ASSERT_EQ(0, fstat(fd, &st));
	EXPECT_EQ(0, st.st_size);
	EXPECT_LE((1 << 20) / 512, st.st_blocks);
}

TEST_F(wsfs, sparse_file)
{
	struct stat st;
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, ftruncate(fd, 1 << 20));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	ASSERT_EQ(0, fstat(fd, &st));
	EXPECT_EQ(1 << 20, st.st_size);
	EXPECT_EQ(0, ws_verify(fd, 0, 1 << 20, 0));
}

TEST_F(wsfs, file_with_two_links)
{
	struct stat a, b;
	int s, fd;

	fd = ws_create(WS_MNT "/a");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, link(WS_MNT "/a", WS_MNT "/b"));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_MNT "/b", O_RDONLY), 0, 4096, 'x'));
	ASSERT_EQ(0, stat(WS_MNT "/a", &a));
	ASSERT_EQ(0, stat(WS_MNT "/b", &b));
	EXPECT_EQ(a.st_ino, b.st_ino);
	EXPECT_EQ(2, a.st_nlink);
}

TEST_F(wsfs, file_whose_first_name_is_gone)
{
	struct stat st, fst;
	int s, fd;

	fd = ws_create(WS_MNT "/a");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, link(WS_MNT "/a", WS_MNT "/b"));
	ASSERT_EQ(0, unlink(WS_MNT "/a"));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_MNT "/b", O_RDONLY), 0, 4096, 'x'));
	ASSERT_EQ(0, stat(WS_MNT "/b", &st));
	ASSERT_EQ(0, fstat(fd, &fst));
	EXPECT_EQ(st.st_ino, fst.st_ino);
	EXPECT_EQ(1, ws_entries(WS_MNT));
}

/* SET replaces the file that was opened, not what has its name now. */
TEST_F(wsfs, name_taken_below)
{
	int s, fd, lower;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, rename(WS_XFS "/file", WS_XFS "/moved"));
	lower = ws_create(WS_XFS "/file");
	ASSERT_EQ(0, ws_fill(lower, 0, 4096, 'y'));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_XFS "/moved", O_RDONLY),
			       0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_XFS "/file", O_RDONLY),
			       0, 4096, 'y'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_MNT "/file", O_RDONLY),
			       0, 4096, 'y'));
}

/* What somebody has open below is not lost either. */
TEST_F(wsfs, open_below)
{
	int s, fd, lower;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	lower = ws_open(WS_XFS "/file", O_RDWR);
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_fill(lower, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(ws_open(WS_MNT "/file", O_RDONLY),
			       0, 4096, 'x'));
}

TEST_F(wsfs, file_without_a_name)
{
	int s, fd;

	fd = ws_open(WS_MNT, O_TMPFILE | O_RDWR);
	ASSERT_LE(0, fd);
	s = ws_alloc_away(fd);
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, linkat(fd, "", AT_FDCWD, WS_MNT "/named", AT_EMPTY_PATH));
	EXPECT_EQ(0, ws_verify(ws_open(WS_MNT "/named", O_RDONLY),
			       0, 4096, 'x'));
}

TEST_F(wsfs, unlinked_file)
{
	struct stat st;
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	ASSERT_EQ(0, unlink(WS_MNT "/file"));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(fd, 0, 4096, 'x'));
	ASSERT_EQ(0, fstat(fd, &st));
	EXPECT_EQ(0, st.st_nlink);
	EXPECT_EQ(0, ws_entries(WS_MNT));
}

TEST_F(wsfs, mapped_file)
{
	size_t size = sysconf(_SC_PAGESIZE);
	int s, fd;
	char *map;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	/* what lies behind the mapping is still the file */
	ASSERT_EQ(0, ftruncate(fd, size));
	memset(map, 'x', size);
	EXPECT_EQ(0, ws_verify(fd, 0, size, 'x'));
	EXPECT_EQ(0, munmap(map, size));
	EXPECT_EQ(0, ws_verify(ws_open(WS_MNT "/file", O_RDONLY),
			       0, size, 'x'));
}

/* The contract refuses immutable files only. */
TEST_F(wsfs, append_only_file)
{
	int s, fd;

	fd = ws_create(WS_MNT "/file");
	s = ws_alloc_away(fd);
	close(fd);
	fd = ws_open(WS_MNT "/file", O_WRONLY | O_APPEND);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ws_chattr(fd, FS_APPEND_FL, 0));
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(-EPERM, ws_open(WS_MNT "/file", O_WRONLY));
	EXPECT_EQ(-EPERM, ws_errno(unlink(WS_MNT "/file")));
	EXPECT_EQ(4096, write(fd, ws_page(PROT_READ), 4096));
	EXPECT_EQ(0, ws_chattr(fd, 0, FS_APPEND_FL));
}

TEST_HARNESS_MAIN
