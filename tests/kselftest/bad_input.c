// SPDX-License-Identifier: GPL-2.0
/* Ioctl numbers, files and fds that the interface does not know. */
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "wsfs_fixture.h"

static const unsigned long known[] = {
	FS_IOC_WRITE_STREAM_GET_MAX,
	FS_IOC_WRITE_STREAM_ALLOC,
	FS_IOC_WRITE_STREAM_SET,
	WSFS_IOC_GEOMETRY,
	WSFS_IOC_FILE_INFO,
};

/* The same names with another size or direction, and their neighbours. */
static const unsigned long unknown[] = {
	_IO(0x15, 3),
	_IOW(0x15, 3, __u32),
	_IOWR(0x15, 3, __u32),
	_IOR(0x15, 3, uint8_t),
	_IOR(0x15, 3, __u64),
	_IOR(0x15, 4, __u32),
	_IOW(0x15, 4, __u32),
	_IO(0x15, 5),
	_IOR(0x15, 5, struct fs_write_stream_set),
	_IOWR(0x15, 5, struct fs_write_stream_set),
	_IOW(0x15, 5, __u32),
	_IOW(0x15, 5, char[16]),
	_IO(0xd9, 1),
	_IOW(0xd9, 1, struct wsfs_geometry),
	_IOR(0xd9, 1, char[sizeof(struct wsfs_geometry) - 4]),
	_IOR(0xd9, 1, char[sizeof(struct wsfs_geometry) + 4]),
	_IO(0xd9, 2),
	_IOW(0xd9, 2, struct wsfs_file_info),
	_IOR(0xd9, 2, char[sizeof(struct wsfs_file_info) - 4]),
	_IOR(0xd9, 2, char[sizeof(struct wsfs_file_info) + 4]),
	_IO(0xd9, 0),
	_IO(0xd9, 0xff),
};

#define ARG_SIZE	4096

TEST_F(wsfs, enotty_wrong_sizes)
{
	char arg[ARG_SIZE], same[ARG_SIZE];
	int fd = ws_create(WS_MNT "/file");

	ASSERT_LE(0, fd);
	memset(same, 0xa5, sizeof(same));
	memcpy(arg, same, sizeof(arg));
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		EXPECT_EQ(-ENOTTY, ws_ioctl(fd, unknown[i], arg)) {
			TH_LOG("ioctl %#lx on a file", unknown[i]);
		}
		EXPECT_EQ(-ENOTTY, ws_ioctl(self->dir, unknown[i], arg)) {
			TH_LOG("ioctl %#lx on a directory", unknown[i]);
		}
	}
	EXPECT_EQ(0, memcmp(arg, same, sizeof(arg)));
	EXPECT_EQ(0, ws_has_stream(fd));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

/* Files that are not wsfs's answer as if they never heard of streams. */
TEST_F(wsfs, enotty_files_that_are_not_wsfs)
{
	int pipes[2], socks[2], fds[10];
	char arg[ARG_SIZE] = { 0 };

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	fds[0] = pipes[0];
	fds[1] = pipes[1];
	fds[2] = socks[0];
	fds[3] = eventfd(0, 0);
	fds[4] = ws_open("/dev/null", O_RDWR);
	fds[5] = ws_create(WS_TMP "/file");
	fds[6] = ws_open(WS_TMP, O_RDONLY);
	fds[7] = ws_create(WS_XFS "/file");
	fds[8] = ws_open(WS_XFS, O_RDONLY);
	fds[9] = ws_alloc(self->dir);

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		ASSERT_LE(0, fds[i]);
		for (size_t j = 0; j < ARRAY_SIZE(known); j++) {
			EXPECT_EQ(-ENOTTY, ws_ioctl(fds[i], known[j], arg)) {
				TH_LOG("file %zu, ioctl %#lx", i, known[j]);
			}
		}
	}
}

/* Special files that live on wsfs are served by their drivers. */
TEST_F(wsfs, enotty_special_files_on_wsfs)
{
	char arg[ARG_SIZE] = { 0 };
	int fds[2];

	ASSERT_EQ(0, mkfifo(WS_MNT "/fifo", 0644));
	ASSERT_EQ(0, mknod(WS_MNT "/null", S_IFCHR | 0666, makedev(1, 3)));
	fds[0] = ws_open(WS_MNT "/fifo", O_RDWR);
	fds[1] = ws_open(WS_MNT "/null", O_RDWR);

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		ASSERT_LE(0, fds[i]);
		for (size_t j = 0; j < ARRAY_SIZE(known); j++) {
			EXPECT_EQ(-ENOTTY, ws_ioctl(fds[i], known[j], arg)) {
				TH_LOG("file %zu, ioctl %#lx", i, known[j]);
			}
		}
	}
}

TEST_F(wsfs, socket_on_wsfs)
{
	struct sockaddr_un addr = {
		.sun_family = AF_UNIX,
		.sun_path = WS_MNT "/socket",
	};
	char arg[ARG_SIZE] = { 0 };
	int sock = socket(AF_UNIX, SOCK_STREAM, 0);

	ASSERT_EQ(0, bind(sock, (struct sockaddr *)&addr, sizeof(addr)));
	for (size_t j = 0; j < ARRAY_SIZE(known); j++)
		EXPECT_EQ(-ENOTTY, ws_ioctl(sock, known[j], arg));
	EXPECT_EQ(-ENXIO, ws_open(WS_MNT "/socket", O_RDWR));
}

TEST_F(wsfs, ebadf_closed_and_path_fds)
{
	char arg[ARG_SIZE] = { 0 };
	int closed, path;

	closed = ws_create(WS_MNT "/file");
	path = ws_open(WS_MNT "/file", O_PATH);
	ASSERT_LE(0, path);
	close(closed);
	for (size_t j = 0; j < ARRAY_SIZE(known); j++) {
		EXPECT_EQ(-EBADF, ws_ioctl(closed, known[j], arg));
		EXPECT_EQ(-EBADF, ws_ioctl(path, known[j], arg));
		EXPECT_EQ(-EBADF, ws_ioctl(-1, known[j], arg));
	}
}

/* A stream fd is nothing to read, write or map, and survives the attempt. */
TEST_F(wsfs, stream_fd_is_no_data_file)
{
	char buf[64] = { 0 };
	struct ws_fdinfo info;
	int s, fd;

	s = ws_alloc(self->dir);
	ASSERT_LE(0, s);
	EXPECT_GT(0, read(s, buf, sizeof(buf)));
	EXPECT_GT(0, write(s, buf, sizeof(buf)));
	EXPECT_GT(0, pread(s, buf, sizeof(buf), 0));
	EXPECT_GT(0, pwrite(s, buf, sizeof(buf), 0));
	EXPECT_GT(0, ftruncate(s, 4096));
	EXPECT_GT(0, fallocate(s, 0, 0, 4096));
	EXPECT_GT(0, fchdir(s));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, s, 0));

	EXPECT_EQ(0, ws_fdinfo(s, &info));
	fd = ws_create(WS_MNT "/file");
	EXPECT_EQ(0, ws_set(fd, s));
}

TEST_HARNESS_MAIN
