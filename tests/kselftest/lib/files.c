// SPDX-License-Identifier: GPL-2.0
/* Files of the wsfs selftests: contents, names, attributes, places. */
#include <dirent.h>
#include <sys/ioctl.h>

#include <linux/fiemap.h>

#include "wsfs_test.h"

int ws_errno(long ret)
{
	return ret < 0 ? -errno : 0;
}

int ws_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : fd;
}

int ws_create(const char *path)
{
	return ws_open(path, O_RDWR | O_CREAT | O_EXCL);
}

int ws_fill(int fd, off_t offset, size_t size, int byte)
{
	ssize_t done = -1;
	void *buf;

	if (posix_memalign(&buf, 4096, size))
		return -ENOMEM;
	memset(buf, byte, size);
	done = pwrite(fd, buf, size, offset);
	if (done >= 0 && (size_t)done < size)
		errno = EIO;
	free(buf);
	return (size_t)done == size ? 0 : -errno;
}

int ws_verify(int fd, off_t offset, size_t size, int byte)
{
	unsigned char *buf;
	void *mem;
	int ret = 0;
	ssize_t got;

	if (posix_memalign(&mem, 4096, size))
		return -ENOMEM;
	buf = mem;
	got = pread(fd, buf, size, offset);
	if (got < 0)
		ret = -errno;
	else if ((size_t)got < size)
		ret = -ENODATA;
	for (size_t i = 0; !ret && i < size; i++)
		if (buf[i] != (unsigned char)byte)
			ret = -EILSEQ;
	free(mem);
	return ret;
}

int ws_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *ent;
	int n = 0;

	if (!dir)
		return -errno;
	while ((ent = readdir(dir)))
		n += strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..");
	closedir(dir);
	return n;
}

bool ws_lists(const char *path, const char *name)
{
	DIR *dir = opendir(path);
	struct dirent *ent;
	bool found = false;

	while (dir && (ent = readdir(dir)))
		found |= !strcmp(ent->d_name, name);
	if (dir)
		closedir(dir);
	return found;
}

int ws_get_hint(int fd, __u64 *hint)
{
	return ws_errno(fcntl(fd, F_GET_RW_HINT, hint));
}

int ws_set_hint(int fd, __u64 hint)
{
	return ws_errno(fcntl(fd, F_SET_RW_HINT, &hint));
}

int ws_chattr(int fd, int on, int off)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags))
		return -errno;
	flags = (flags | on) & ~off;
	return ws_errno(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

int ws_xflags(int fd, __u32 on)
{
	struct fsxattr fsx;

	if (ioctl(fd, FS_IOC_FSGETXATTR, &fsx))
		return -errno;
	fsx.fsx_xflags |= on;
	return ws_errno(ioctl(fd, FS_IOC_FSSETXATTR, &fsx));
}

int ws_data_agno(int fd, const struct wsfs_geometry *geo)
{
	char buf[sizeof(struct fiemap) + sizeof(struct fiemap_extent)] = { 0 };
	struct fiemap *map = (struct fiemap *)buf;

	map->fm_length = FIEMAP_MAX_OFFSET;
	map->fm_flags = FIEMAP_FLAG_SYNC;
	map->fm_extent_count = 1;
	if (ioctl(fd, FS_IOC_FIEMAP, map))
		return -errno;
	if (!map->fm_mapped_extents)
		return -ENODATA;
	return map->fm_extents[0].fe_physical / geo->blocksize / geo->agblocks;
}
