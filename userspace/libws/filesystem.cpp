// SPDX-License-Identifier: GPL-2.0
#include <ws/filesystem.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/write_streams.h>
#include <linux/wsfs.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <ws/error.h>
#include <ws/xfs_geometry.h>

namespace ws
{

namespace
{

Filesystem from_wsfs(const Host &host, int fd, const wsfs_geometry &answer)
{
	Filesystem filesystem;

	filesystem.type = Filesystem::Type::wsfs;
	// Stripes and realtime groups, where wsfs lets the question through.
	read_xfs_geometry(host, fd, filesystem.geometry);
	filesystem.geometry.block_size = answer.blocksize;
	filesystem.geometry.ag_blocks = answer.agblocks;
	filesystem.geometry.ags = {
		.count = answer.agcount,
		.sectors = std::uint64_t{answer.agblocks} * (answer.blocksize / sector_size),
	};
	filesystem.streams = answer.streams;
	filesystem.device = makedev(answer.lower_major, answer.lower_minor);
	filesystem.dev.assign(answer.dev, strnlen(answer.dev, sizeof(answer.dev)));
	return filesystem;
}

Filesystem from_xfs(const Host &host, int fd, const std::string &path)
{
	Filesystem filesystem;
	struct stat st = {};
	int result = read_xfs_geometry(host, fd, filesystem.geometry);

	if (result < 0)
		throw Error(path, "XFS_IOC_FSGEOMETRY", -result);
	if (fstat(fd, &st) != 0)
		throw Error(path, "fstat", errno);
	filesystem.device = st.st_dev;
	// A kernel with the series has streams here as well.
	__u32 max = 0;
	if (host.kernel.ioctl(fd, FS_IOC_WRITE_STREAM_GET_MAX, &max) >= 0)
		filesystem.streams = max;
	return filesystem;
}

} // namespace

Filesystem Filesystem::of(const Host &host, int fd, const std::string &path)
{
	struct wsfs_geometry answer = {};
	const int result = host.kernel.ioctl(fd, WSFS_IOC_GEOMETRY, &answer);

	if (result >= 0)
		return from_wsfs(host, fd, answer);
	if (result != -ENOTTY && result != -EOPNOTSUPP && result != -EINVAL)
		throw Error(path, "WSFS_IOC_GEOMETRY", -result);
	return from_xfs(host, fd, path);
}

UniqueFd open_for_info(const std::string &path)
{
	UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));

	if (!fd)
		throw Error(path, "open", errno);
	return fd;
}

} // namespace ws
