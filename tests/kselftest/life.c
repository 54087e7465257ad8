// SPDX-License-Identifier: GPL-2.0
/* The life of a stream: from ALLOC to the last close of its fd. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "wsfs_fixture.h"

/* The fixture's streams but one, so that one more ALLOC tells all. */
static int alloc_all_but_one(int dir)
{
	for (int i = 1; i < WS_STREAMS; i++) {
		int s = ws_alloc(dir);

		if (s < 0)
			return s;
	}
	return 0;
}

TEST_F(wsfs, close_releases)
{
	int s;

	for (int i = 0; i < 1000; i++) {
		s = ws_alloc(self->dir);
		ASSERT_LE(0, s);
		ASSERT_EQ(0, close(s));
	}
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

TEST_F(wsfs, exhaustion_release_and_reuse)
{
	int s[WS_STREAMS];

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < WS_STREAMS; i++) {
			s[i] = ws_alloc(self->dir);
			ASSERT_LE(0, s[i]);
		}
		ASSERT_EQ(-ENOSPC, ws_alloc(self->dir));
		for (int i = 0; i < WS_STREAMS; i++)
			ASSERT_EQ(0, close(s[(i + round) % WS_STREAMS]));
	}
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

TEST_F(wsfs, dup_holds)
{
	int s, copy, fd;

	ASSERT_EQ(0, alloc_all_but_one(self->dir));
	s = ws_alloc(self->dir);
	copy = dup(s);
	ASSERT_LE(0, copy);
	close(s);
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));

	fd = ws_create(WS_MNT "/file");
	EXPECT_EQ(0, ws_set(fd, copy));
	EXPECT_EQ(1, ws_has_stream(fd));

	close(copy);
	EXPECT_EQ(0, ws_has_stream(fd));
	EXPECT_LE(0, ws_alloc(self->dir));
}

static int nothing(int a, int b)
{
	return 0;
}

TEST_F(wsfs, fork_holds)
{
	pid_t child;
	int s;

	ASSERT_EQ(0, alloc_all_but_one(self->dir));
	s = ws_alloc(self->dir);
	child = ws_hold(nothing, 0, 0);
	ASSERT_LT(0, child);
	close(s);
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	ws_kill(child);
	EXPECT_TRUE(ws_eventually((s = ws_alloc(self->dir)) != -ENOSPC));
	EXPECT_LE(0, s);
}

static int set_it(int fd, int stream)
{
	return ws_set(fd, stream);
}

TEST_F(wsfs, child_may_set_what_it_inherits)
{
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	EXPECT_EQ(0, ws_in_child(set_it, fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
}

/*
 * A child with a copy of @stream becomes sleep(1). Returns its pid once that
 * has happened: the pipe closes with exec.
 */
static pid_t exec_sleep(int stream, bool keep)
{
	int pipefd[2];
	pid_t child;
	char byte;

	if (pipe2(pipefd, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (keep)
			fcntl(stream, F_SETFD, 0);
		execlp("sleep", "sleep", "1000", NULL);
		_exit(127);
	}
	close(pipefd[1]);
	if (read(pipefd[0], &byte, 1) != 0)
		child = -EIO;
	close(pipefd[0]);
	return child;
}

TEST_F(wsfs, exec_closes)
{
	pid_t child;
	int s;

	ASSERT_EQ(0, alloc_all_but_one(self->dir));
	s = ws_alloc(self->dir);
	child = exec_sleep(s, false);
	ASSERT_LT(0, child);
	close(s);
	EXPECT_TRUE(ws_eventually((s = ws_alloc(self->dir)) != -ENOSPC));
	EXPECT_LE(0, s);
	/* it was exec that released it, not the end of the child */
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	ws_kill(child);
}

TEST_F(wsfs, exec_holds_without_close_on_exec)
{
	pid_t child;
	int s;

	ASSERT_EQ(0, alloc_all_but_one(self->dir));
	s = ws_alloc(self->dir);
	child = exec_sleep(s, true);
	ASSERT_LT(0, child);
	close(s);
	usleep(200000);
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	ws_kill(child);
	EXPECT_TRUE(ws_eventually((s = ws_alloc(self->dir)) != -ENOSPC));
	EXPECT_LE(0, s);
}

TEST_F(wsfs, fd_in_flight_holds)
{
	int s, fd, sock[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, alloc_all_but_one(self->dir));
	s = ws_alloc(self->dir);
	ASSERT_EQ(0, ws_send_fd(sock[0], s));
	close(s);
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));

	s = ws_recv_fd(sock[1]);
	ASSERT_LE(0, s);
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	fd = ws_create(WS_MNT "/file");
	EXPECT_EQ(0, ws_set(fd, s));
	EXPECT_EQ(1, ws_has_stream(fd));
	close(s);
	EXPECT_LE(0, ws_alloc(self->dir));
}

TEST_F(wsfs, fd_in_flight_dies_with_the_socket)
{
	int s, sock[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, alloc_all_but_one(self->dir));
	s = ws_alloc(self->dir);
	ASSERT_EQ(0, ws_send_fd(sock[0], s));
	close(s);
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	close(sock[0]);
	close(sock[1]);
	EXPECT_TRUE(ws_eventually((s = ws_alloc(self->dir)) != -ENOSPC));
	EXPECT_LE(0, s);
}

static int set_what_arrives(int sock, int fd)
{
	int s = ws_recv_fd(sock);

	return s < 0 ? s : ws_set(fd, s);
}

/* A holder without any privilege got its stream from one that has it. */
TEST_F(wsfs, passed_to_another_process)
{
	int s, fd, sock[2];
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, alloc_all_but_one(self->dir));
	s = ws_alloc(self->dir);
	ASSERT_EQ(0, ws_send_fd(sock[0], s));
	close(s);

	child = ws_hold(set_what_arrives, sock[1], fd);
	ASSERT_LT(0, child);
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(-ENOSPC, ws_alloc(self->dir));
	ws_kill(child);
	EXPECT_TRUE(ws_eventually((s = ws_alloc(self->dir)) != -ENOSPC));
	EXPECT_LE(0, s);
	EXPECT_EQ(0, ws_has_stream(fd));
}

static int alloc_set_and_write(int dir, int fd)
{
	int ret, s;

	for (int i = 0; i < WS_STREAMS; i++) {
		s = ws_alloc(dir);
		if (s < 0)
			return s;
	}
	ret = ws_set(fd, s);
	return ret ?: ws_fill(fd, 0, 65536, 'x');
}

TEST_F(wsfs, crash_of_the_holder)
{
	struct wsfs_file_info info;
	pid_t child;
	int fd;

	fd = ws_create(WS_MNT "/file");
	child = ws_hold(alloc_set_and_write, self->dir, fd);
	ASSERT_LT(0, child);
	EXPECT_EQ(1, ws_has_stream(fd));
	EXPECT_EQ(0, ws_free_streams(WS_MNT));
	ASSERT_EQ(0, ws_info(fd, &info));

	ws_kill(child);
	EXPECT_TRUE(ws_eventually(ws_free_streams(WS_MNT) == WS_STREAMS));
	EXPECT_EQ(0, ws_has_stream(fd));
	EXPECT_EQ(0, ws_verify(fd, 0, 65536, 'x'));
}

TEST_F(wsfs, released_files_keep_their_place)
{
	struct wsfs_file_info with, without;
	struct wsfs_geometry geo;
	int s, fd, agno;

	ASSERT_EQ(0, ws_ioctl(self->dir, WSFS_IOC_GEOMETRY, &geo));
	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, ws_fill(fd, 0, 65536, 'x'));
	ASSERT_EQ(0, fsync(fd));
	ASSERT_EQ(0, ws_info(fd, &with));
	agno = ws_data_agno(fd, &geo);

	close(s);
	ASSERT_EQ(0, ws_info(fd, &without));
	EXPECT_EQ(0, without.flags & WSFS_FILE_STREAM);
	EXPECT_EQ(with.inode_agno, without.inode_agno);
	EXPECT_EQ(agno, ws_data_agno(fd, &geo));
	EXPECT_EQ(0, ws_verify(fd, 0, 65536, 'x'));
}

/* Reserves streams until the one with @id turns up, keeps the others. */
static int alloc_id(int dir, int id)
{
	struct ws_fdinfo info;
	int s, ret;

	for (;;) {
		s = ws_alloc(dir);
		if (s < 0)
			return s;
		ret = ws_fdinfo(s, &info);
		if (ret)
			return ret;
		if (info.stream == id)
			return s;
	}
}

TEST_F(wsfs, next_owner_of_an_id_inherits_nothing)
{
	struct ws_fdinfo info;
	int s, old, fresh;

	s = ws_alloc(self->dir);
	old = ws_create(WS_MNT "/old");
	ASSERT_EQ(0, ws_set(old, s));
	ASSERT_EQ(0, ws_fill(old, 0, 4096, 'x'));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	close(s);

	s = alloc_id(self->dir, info.stream);
	ASSERT_LE(0, s);
	EXPECT_EQ(0, ws_has_stream(old));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(0, info.files);
	EXPECT_EQ(0, info.bytes);

	/* what is written to the old file is not the new owner's */
	EXPECT_EQ(0, ws_fill(old, 4096, 4096, 'y'));
	fresh = ws_create(WS_MNT "/fresh");
	EXPECT_EQ(0, ws_set(fresh, s));
	EXPECT_EQ(0, ws_has_stream(old));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(1, info.files);
	EXPECT_EQ(0, info.bytes);

	/* and the old file can come to it, which is no "same again" */
	EXPECT_EQ(0, ws_set(old, s));
	EXPECT_EQ(1, ws_has_stream(old));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(2, info.files);
	EXPECT_EQ(0, ws_verify(old, 0, 4096, 'x'));
	EXPECT_EQ(0, ws_verify(old, 4096, 4096, 'y'));
}

/* The same while the file is closed in between. */
TEST_F(wsfs, closed_files_are_not_inherited)
{
	struct ws_fdinfo info;
	int s, fd;

	s = ws_alloc(self->dir);
	fd = ws_create(WS_MNT "/file");
	ASSERT_EQ(0, ws_set(fd, s));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	close(fd);
	close(s);

	s = alloc_id(self->dir, info.stream);
	ASSERT_LE(0, s);
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(0, info.files);
	fd = ws_open(WS_MNT "/file", O_RDWR);
	EXPECT_EQ(0, ws_has_stream(fd));
}

TEST_F(wsfs, fdinfo)
{
	struct wsfs_geometry geo;
	int s, fd[3], other;
	struct ws_fdinfo info;
	char set[64];

	s = ws_alloc(self->dir);
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	snprintf(set, sizeof(set), "%d-%d", info.stream * WS_AGS_EACH,
		 (info.stream + 1) * WS_AGS_EACH - 1);
	EXPECT_STREQ(set, info.ag_set);
	EXPECT_EQ(0, info.files);
	EXPECT_EQ(0, info.bytes);
	ASSERT_EQ(0, ws_ioctl(self->dir, WSFS_IOC_GEOMETRY, &geo));
	EXPECT_STREQ(geo.dev, info.dev);

	fd[0] = ws_create(WS_MNT "/a");
	fd[1] = ws_create(WS_MNT "/b");
	fd[2] = ws_create(WS_MNT "/c");
	other = ws_create(WS_MNT "/other");
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, ws_set(fd[i], s));
		ASSERT_EQ(0, ws_fill(fd[i], 0, 4096, 'x'));
	}
	ASSERT_EQ(0, ws_fill(other, 0, 4096, 'x'));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(3, info.files);
	EXPECT_EQ(3 * 4096, info.bytes);

	/* an overwrite puts bytes into the file as well */
	ASSERT_EQ(0, ws_fill(fd[0], 0, 1024, 'y'));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(3 * 4096 + 1024, info.bytes);

	ASSERT_EQ(0, ws_clear(fd[0]));
	ASSERT_EQ(0, ws_fill(fd[0], 0, 4096, 'z'));
	ASSERT_EQ(0, ws_fdinfo(s, &info));
	EXPECT_EQ(2, info.files);
	EXPECT_EQ(3 * 4096 + 1024, info.bytes);

	ASSERT_EQ(0, unlink(WS_MNT "/b"));
	close(fd[1]);
	EXPECT_TRUE(ws_eventually(!ws_fdinfo(s, &info) && info.files == 1));
}

TEST_HARNESS_MAIN
