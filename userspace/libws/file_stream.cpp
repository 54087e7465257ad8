// SPDX-License-Identifier: GPL-2.0
#include <ws/file_stream.h>

#include <cerrno>

#include <linux/fs.h>
#include <linux/write_streams.h>
#include <linux/wsfs.h>

#include <ws/error.h>

namespace ws
{

namespace
{

void call_set(const Host &host, int fd, const std::string &path, fs_write_stream_set argument)
{
	const int result = host.kernel.ioctl(fd, FS_IOC_WRITE_STREAM_SET, &argument);

	if (result < 0)
		throw Error(path, "FS_IOC_WRITE_STREAM_SET", -result);
}

} // namespace

void set_stream(const Host &host, int fd, const std::string &path, int stream_fd)
{
	call_set(host, fd, path, {.stream_fd = stream_fd, .flags = 0});
}

void clear_stream(const Host &host, int fd, const std::string &path)
{
	call_set(host, fd, path, {.stream_fd = -1, .flags = FS_WRITE_STREAM_SET_CLEAR});
}

std::optional<FileStream> require_file_stream(const Host &host, int fd, const std::string &path)
{
	struct wsfs_file_info info = {};
	const int result = host.kernel.ioctl(fd, WSFS_IOC_FILE_INFO, &info);

	if (result < 0)
		throw Error(path, "WSFS_IOC_FILE_INFO", -result);
	if (!(info.flags & WSFS_FILE_STREAM))
		return std::nullopt;
	return FileStream{
		.id = info.stream,
		.home_ag = info.home_agno,
		.homed = (info.flags & WSFS_FILE_HOMED) != 0,
		.missed = (info.flags & WSFS_FILE_MISSED) != 0,
		.anchored = (info.flags & WSFS_FILE_ANCHORED) != 0,
	};
}

std::optional<FileStream> file_stream(const Host &host, int fd, const std::string &path)
{
	try {
		return require_file_stream(host, fd, path);
	} catch (const Error &error) {
		if (error.code() == ENOTTY || error.code() == EOPNOTSUPP)
			return std::nullopt;
		throw;
	}
}

} // namespace ws
