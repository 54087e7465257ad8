// SPDX-License-Identifier: GPL-2.0
/* The write stream and wsfs ioctls, and what /proc and /sys show of them. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "wsfs_test.h"

int ws_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

int ws_max(int fd, __u32 *max)
{
	return ws_ioctl(fd, FS_IOC_WRITE_STREAM_GET_MAX, max);
}

int ws_alloc(int fd)
{
	return ws_ioctl(fd, FS_IOC_WRITE_STREAM_ALLOC, NULL);
}

int ws_alloc_away(int fd)
{
	struct wsfs_file_info info;
	struct ws_fdinfo fdinfo;
	int here = -1, s, ret;

	ret = ws_info(fd, &info);
	if (ret)
		return ret;
	for (;;) {
		s = ws_alloc(fd);
		ret = s < 0 ? s : ws_fdinfo(s, &fdinfo);
		if (ret < 0 || fdinfo.stream != info.inode_agno / WS_AGS_EACH)
			break;
		here = s;
	}
	if (here >= 0)
		close(here);
	return ret < 0 ? ret : s;
}

int ws_set_raw(int fd, int stream, __u32 flags)
{
	struct fs_write_stream_set set = {
		.stream_fd = stream,
		.flags = flags,
	};

	return ws_ioctl(fd, FS_IOC_WRITE_STREAM_SET, &set);
}

int ws_set(int fd, int stream)
{
	return ws_set_raw(fd, stream, 0);
}

int ws_clear(int fd)
{
	return ws_set_raw(fd, -1, FS_WRITE_STREAM_SET_CLEAR);
}

int ws_info(int fd, struct wsfs_file_info *info)
{
	memset(info, 0xa5, sizeof(*info));
	return ws_ioctl(fd, WSFS_IOC_FILE_INFO, info);
}

int ws_has_stream(int fd)
{
	struct wsfs_file_info info;
	int ret = ws_info(fd, &info);

	return ret ?: !!(info.flags & WSFS_FILE_STREAM);
}

char *ws_page(int prot)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *page;

	page = mmap(NULL, 2 * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (page == MAP_FAILED || munmap(page + size, size) ||
	    mprotect(page, size, prot)) {
		perror("# mapping a page");
		abort();
	}
	return page;
}

int ws_free_streams(const char *path)
{
	int streams[64], dir, last, n = 0;

	dir = ws_open(path, O_RDONLY);
	if (dir < 0)
		return dir;
	for (last = 0; n < 64; n++) {
		last = ws_alloc(dir);
		if (last < 0)
			break;
		streams[n] = last;
	}
	close(dir);
	for (int i = 0; i < n; i++)
		close(streams[i]);
	return last == -ENOSPC ? n : last;
}

int ws_make_home(const char *path)
{
	int fd, s, ret;
	char name[256];

	snprintf(name, sizeof(name), "%s/make_home", path);
	fd = ws_create(name);
	if (fd < 0)
		return fd;
	s = ws_alloc_away(fd);
	ret = s < 0 ? s : ws_set(fd, s);
	close(s);
	close(fd);
	return ret ?: ws_errno(unlink(name));
}

int ws_fdinfo(int fd, struct ws_fdinfo *info)
{
	char path[64], line[256];
	unsigned int seen = 0;
	FILE *f;

	memset(info, 0, sizeof(*info));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		seen |= (sscanf(line, "stream:\t%d\n", &info->stream) == 1) << 0;
		seen |= (sscanf(line, "ag_set:\t%63s\n", info->ag_set) == 1) << 1;
		seen |= (sscanf(line, "files:\t%llu\n", &info->files) == 1) << 2;
		seen |= (sscanf(line, "bytes:\t%llu\n", &info->bytes) == 1) << 3;
		seen |= (sscanf(line, "dev:\t%31s\n", info->dev) == 1) << 4;
	}
	fclose(f);
	return seen == 0x1f ? 0 : -ENODATA;
}

int ws_sysfs_str(const char *path, const char *name, char *buf, size_t size)
{
	struct wsfs_geometry geo;
	char file[256];
	ssize_t len;
	int fd, ret;

	fd = ws_open(path, O_RDONLY);
	if (fd < 0)
		return fd;
	ret = ws_ioctl(fd, WSFS_IOC_GEOMETRY, &geo);
	close(fd);
	if (ret)
		return ret;

	snprintf(file, sizeof(file), "/sys/fs/wsfs/%.*s/%s",
		 WSFS_DEV_NAME_LEN, geo.dev, name);
	fd = ws_open(file, O_RDONLY);
	if (fd < 0)
		return fd;
	len = read(fd, buf, size - 1);
	close(fd);
	if (len < 0)
		return -errno;
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

long long ws_sysfs(const char *path, const char *name)
{
	char buf[64], *end;
	long long value;
	int ret;

	ret = ws_sysfs_str(path, name, buf, sizeof(buf));
	if (ret)
		return ret;
	value = strtoll(buf, &end, 10);
	return end == buf || *end ? -EINVAL : value;
}
