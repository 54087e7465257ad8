// SPDX-License-Identifier: GPL-2.0
/*
 * Three files on two write streams, with nothing but the interface of the
 * "xfs write streams" series. It runs as root on wsfs, or on XFS in a kernel
 * that carries the series:
 *
 *	cc -o ws-example ws-example.c
 *	./ws-example /mnt/ws		the data device
 *	./ws-example /mnt/ws rt		the realtime device
 *
 * a.dat has the first stream; b.dat and c.dat have the second. Each file gets
 * 4096 bytes, so afterwards a.dat lies apart from the other two.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/fs.h>

#if !defined(FS_IOC_WRITE_STREAM_GET_MAX) && __has_include(<linux/write_streams.h>)
#include <linux/write_streams.h>
#endif

/* Neither the kernel's headers nor wsfs's are here: the interface in full. */
#ifndef FS_IOC_WRITE_STREAM_GET_MAX
struct fs_write_stream_set {
	__s32 stream_fd;
	__u32 flags;
};

#define FS_WRITE_STREAM_SET_CLEAR (1U << 0)
#define FS_IOC_WRITE_STREAM_GET_MAX _IOR(0x15, 3, __u32)
#define FS_IOC_WRITE_STREAM_ALLOC _IO(0x15, 4)
#define FS_IOC_WRITE_STREAM_SET _IOW(0x15, 5, struct fs_write_stream_set)
#endif

enum { stream_count = 2, bytes_per_file = 4096 };

struct data_file {
	const char *name;
	int stream; /* index into the reserved streams */
	int fd;
};

/* Has to happen while the file is empty. */
static void move_to_realtime(const struct data_file *file)
{
	struct fsxattr attr;

	if (ioctl(file->fd, FS_IOC_FSGETXATTR, &attr) != 0)
		err(EXIT_FAILURE, "%s: FS_IOC_FSGETXATTR", file->name);
	attr.fsx_xflags |= FS_XFLAG_REALTIME;
	if (ioctl(file->fd, FS_IOC_FSSETXATTR, &attr) != 0)
		err(EXIT_FAILURE, "%s: FS_IOC_FSSETXATTR (is there a realtime device?)",
		    file->name);
}

static void create(struct data_file *file, int dir, int realtime)
{
	file->fd = openat(dir, file->name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (file->fd < 0)
		err(EXIT_FAILURE, "%s", file->name);
	if (realtime)
		move_to_realtime(file);
}

/* The stream first, then the data. */
static void fill(const struct data_file *file, int stream_fd)
{
	static const char data[bytes_per_file];
	struct fs_write_stream_set set = {.stream_fd = stream_fd};

	if (ioctl(file->fd, FS_IOC_WRITE_STREAM_SET, &set) != 0)
		err(EXIT_FAILURE, "%s: FS_IOC_WRITE_STREAM_SET", file->name);
	if (write(file->fd, data, sizeof(data)) != (ssize_t)sizeof(data))
		err(EXIT_FAILURE, "%s: write", file->name);
	if (fsync(file->fd) != 0)
		err(EXIT_FAILURE, "%s: fsync", file->name);
	close(file->fd);
}

int main(int argc, char **argv)
{
	struct data_file files[] = {
		{.name = "a.dat", .stream = 0},
		{.name = "b.dat", .stream = 1},
		{.name = "c.dat", .stream = 1},
	};
	const int count = sizeof(files) / sizeof(files[0]);
	const int realtime = argc == 3 && strcmp(argv[2], "rt") == 0;
	int streams[stream_count];
	__u32 max = 0;
	int dir;

	if (argc != 2 && !realtime)
		errx(2, "usage: %s DIRECTORY [rt]", argv[0]);

	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		err(EXIT_FAILURE, "%s", argv[1]);
	for (int i = 0; i < count; i++)
		create(&files[i], dir, realtime);

	/* A file stands for the device that it is placed on. */
	if (ioctl(files[0].fd, FS_IOC_WRITE_STREAM_GET_MAX, &max) != 0)
		err(EXIT_FAILURE, "FS_IOC_WRITE_STREAM_GET_MAX");
	printf("max streams: %u\n", max);
	if (max < stream_count)
		errx(EXIT_FAILURE, "%d streams are needed", stream_count);

	for (int i = 0; i < stream_count; i++) {
		streams[i] = ioctl(files[0].fd, FS_IOC_WRITE_STREAM_ALLOC);
		if (streams[i] < 0)
			err(EXIT_FAILURE, "FS_IOC_WRITE_STREAM_ALLOC");
	}
	for (int i = 0; i < count; i++)
		fill(&files[i], streams[files[i].stream]);

	/* Gives the streams back. The data stays where it is. */
	for (int i = 0; i < stream_count; i++)
		close(streams[i]);
	close(dir);

	printf("a.dat is on stream 1, b.dat and c.dat are on stream 2; see where they lie with\n"
	       "'wsctl bmap' or 'xfs_bmap -v'\n");
	return EXIT_SUCCESS;
}
