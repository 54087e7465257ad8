// SPDX-License-Identifier: GPL-2.0
/* The directory .wsfs in the root of the XFS: invisible and unreachable. */
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "wsfs_fixture.h"

#define HIDDEN	WS_MNT "/.wsfs"

FIXTURE(hidden)
{
	int dir;
};

FIXTURE_SETUP(hidden)
{
	ASSERT_EQ(0, ws_up());
	self->dir = ws_open(WS_MNT, O_RDONLY);
	ASSERT_EQ(0, ws_make_home(WS_MNT));
	ASSERT_EQ(0, close(ws_create(WS_MNT "/file")));
	ASSERT_TRUE(ws_lists(WS_XFS, ".wsfs"));
}

FIXTURE_TEARDOWN(hidden)
{
	struct stat st;

	EXPECT_EQ(0, stat(WS_XFS "/.wsfs", &st));
	EXPECT_TRUE(S_ISDIR(st.st_mode));
	EXPECT_EQ(1, ws_entries(WS_MNT));
	EXPECT_EQ(0, ws_down());
}

TEST_F(hidden, enoent_lookup)
{
	struct stat st;

	EXPECT_EQ(-ENOENT, ws_errno(stat(HIDDEN, &st)));
	EXPECT_EQ(-ENOENT, ws_errno(lstat(HIDDEN, &st)));
	EXPECT_EQ(-ENOENT, ws_errno(stat(HIDDEN "/", &st)));
	EXPECT_EQ(-ENOENT, ws_errno(stat(HIDDEN "/..", &st)));
	EXPECT_EQ(-ENOENT, ws_errno(stat(WS_MNT "/./.wsfs", &st)));
	EXPECT_EQ(-ENOENT, ws_errno(fstatat(self->dir, ".wsfs", &st, 0)));
	EXPECT_EQ(-ENOENT, ws_errno(access(HIDDEN, F_OK)));
	EXPECT_EQ(-ENOENT, ws_errno(chdir(HIDDEN)));
	EXPECT_EQ(-ENOENT, ws_errno(truncate(HIDDEN, 0)));
	EXPECT_EQ(-ENOENT, ws_errno(chmod(HIDDEN, 0777)));
	EXPECT_EQ(-ENOENT, ws_errno(chown(HIDDEN, 1, 1)));
	EXPECT_EQ(-ENOENT, ws_open(HIDDEN, O_RDONLY));
	EXPECT_EQ(-ENOENT, ws_open(HIDDEN, O_PATH));
	EXPECT_EQ(-ENOENT, ws_open(HIDDEN, O_RDONLY | O_DIRECTORY));
	EXPECT_EQ(-ENOENT, ws_open(HIDDEN, O_TMPFILE | O_RDWR));
}

TEST_F(hidden, enoent_remove)
{
	EXPECT_EQ(-ENOENT, ws_errno(rmdir(HIDDEN)));
	EXPECT_EQ(-ENOENT, ws_errno(unlink(HIDDEN)));
	EXPECT_EQ(-ENOENT, ws_errno(rename(HIDDEN, WS_MNT "/seen")));
	EXPECT_EQ(-ENOENT, ws_errno(link(HIDDEN, WS_MNT "/seen")));
}

TEST_F(hidden, not_listed)
{
	EXPECT_FALSE(ws_lists(WS_MNT, ".wsfs"));
	EXPECT_TRUE(ws_lists(WS_MNT, "file"));
	EXPECT_EQ(1, ws_entries(WS_MNT));
}

/* Listed in small pieces as well: getdents64 with room for one entry. */
TEST_F(hidden, not_listed_in_pieces)
{
	char buf[32];
	long len;
	int n = 0;

	while ((len = syscall(SYS_getdents64, self->dir, buf,
			      sizeof(buf))) > 0) {
		/* ino, off, reclen, type: the name starts at 19 */
		EXPECT_STRNE(".wsfs", &buf[19]);
		n++;
	}
	EXPECT_EQ(0, len);
	EXPECT_EQ(3, n);
}

TEST_F(hidden, eperm_create)
{
	EXPECT_EQ(-EPERM, ws_open(HIDDEN, O_CREAT | O_RDWR));
	EXPECT_EQ(-EPERM, ws_create(HIDDEN));
	EXPECT_EQ(-EPERM, ws_errno(mkdir(HIDDEN, 0755)));
	EXPECT_EQ(-EPERM, ws_errno(mkfifo(HIDDEN, 0644)));
	EXPECT_EQ(-EPERM, ws_errno(mknod(HIDDEN, S_IFCHR | 0644,
					 makedev(1, 3))));
	EXPECT_EQ(-EPERM, ws_errno(symlink("file", HIDDEN)));
	EXPECT_EQ(-EPERM, ws_errno(link(WS_MNT "/file", HIDDEN)));
}

TEST_F(hidden, eperm_rename_to)
{
	EXPECT_EQ(-EPERM, ws_errno(rename(WS_MNT "/file", HIDDEN)));
	EXPECT_EQ(-EPERM, ws_errno(renameat2(AT_FDCWD, WS_MNT "/file",
					     AT_FDCWD, HIDDEN,
					     RENAME_NOREPLACE)));
	EXPECT_EITHER(-EPERM, -ENOENT,
		      ws_errno(renameat2(AT_FDCWD, WS_MNT "/file",
					 AT_FDCWD, HIDDEN,
					 RENAME_EXCHANGE)));
	ASSERT_EQ(0, mkdir(WS_MNT "/dir", 0755));
	EXPECT_EQ(-EPERM, ws_errno(rename(WS_MNT "/dir", HIDDEN)));
	ASSERT_EQ(0, rmdir(WS_MNT "/dir"));
}

TEST_F(hidden, eperm_link_a_tmpfile_to)
{
	int fd = ws_open(WS_MNT, O_TMPFILE | O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EPERM, ws_errno(linkat(fd, "", AT_FDCWD, HIDDEN,
					  AT_EMPTY_PATH)));
}

/* Only the name in the root of the XFS is wsfs's own. */
TEST_F(hidden, free_elsewhere)
{
	int fd;

	ASSERT_EQ(0, mkdir(WS_MNT "/sub", 0755));
	EXPECT_EQ(0, mkdir(WS_MNT "/sub/.wsfs", 0755));
	fd = ws_create(WS_MNT "/sub/.wsfs/file");
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, ws_fill(fd, 0, 4096, 'x'));
	EXPECT_TRUE(ws_lists(WS_MNT "/sub", ".wsfs"));
	EXPECT_EQ(0, unlink(WS_MNT "/sub/.wsfs/file"));
	EXPECT_EQ(0, rmdir(WS_MNT "/sub/.wsfs"));
	EXPECT_EQ(0, rmdir(WS_MNT "/sub"));

	/* names that only begin like it */
	EXPECT_EQ(0, mkdir(WS_MNT "/.wsf", 0755));
	EXPECT_EQ(0, rmdir(WS_MNT "/.wsf"));
	EXPECT_EQ(0, mkdir(WS_MNT "/.wsfs2", 0755));
	EXPECT_TRUE(ws_lists(WS_MNT, ".wsfs2"));
	EXPECT_EQ(0, rmdir(WS_MNT "/.wsfs2"));
}

/* A mount of a subdirectory shows that directory whole. */
TEST_F(hidden, free_in_the_root_of_a_subdirectory_mount)
{
	ASSERT_EQ(0, mkdir(WS_MNT "/sub", 0755));
	ASSERT_EQ(0, ws_mount(WS_XFS "/sub", WS_MNT2, "wsfs", 0, WS_OPTIONS));
	EXPECT_EQ(0, mkdir(WS_MNT2 "/.wsfs", 0755));
	EXPECT_TRUE(ws_lists(WS_MNT2, ".wsfs"));
	EXPECT_TRUE(ws_lists(WS_MNT "/sub", ".wsfs"));
	EXPECT_EQ(0, rmdir(WS_MNT2 "/.wsfs"));
	EXPECT_EQ(0, ws_umount(WS_MNT2));
	EXPECT_EQ(0, rmdir(WS_MNT "/sub"));
}

/* The parent of the mounted directory does not lead into it either. */
TEST_F(hidden, stays_hidden_over_remount)
{
	struct stat st;

	close(self->dir);
	ASSERT_EQ(0, ws_umount(WS_MNT));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS));
	EXPECT_EQ(-ENOENT, ws_errno(stat(HIDDEN, &st)));
	EXPECT_FALSE(ws_lists(WS_MNT, ".wsfs"));
}

TEST_HARNESS_MAIN
