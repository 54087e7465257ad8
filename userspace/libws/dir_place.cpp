// SPDX-License-Identifier: GPL-2.0
#include <ws/dir_place.h>

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <linux/wsfs.h>

#include <ws/error.h>
#include <ws/file.h>

namespace ws
{

namespace
{

void call_set_dir(const Host &host, int fd, const std::string &path, wsfs_dir_place argument)
{
	const int result = host.kernel.ioctl(fd, WSFS_IOC_SET_DIR, &argument);

	if (result < 0)
		throw Error(path, "WSFS_IOC_SET_DIR", -result);
}

__u32 to_kernel(DirPlace place)
{
	switch (place) {
	case DirPlace::near:
		return WSFS_DIR_NEAR;
	case DirPlace::spread:
		return WSFS_DIR_SPREAD;
	case DirPlace::spread_free:
		return WSFS_DIR_SPREAD_FREE;
	case DirPlace::stream:
		return WSFS_DIR_STREAM;
	case DirPlace::by_mount:
		break;
	}
	return WSFS_DIR_DEFAULT;
}

std::optional<DirPlace> from_kernel(__u32 how)
{
	switch (how) {
	case WSFS_DIR_DEFAULT:
		return DirPlace::by_mount;
	case WSFS_DIR_STREAM:
		return DirPlace::stream;
	case WSFS_DIR_NEAR:
		return DirPlace::near;
	case WSFS_DIR_SPREAD:
		return DirPlace::spread;
	case WSFS_DIR_SPREAD_FREE:
		return DirPlace::spread_free;
	default:
		return std::nullopt;
	}
}

} // namespace

bool is_directory(int fd)
{
	struct stat st = {};

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

UniqueFd open_for_place(const std::string &path)
{
	struct stat st = {};

	if (stat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode))
		return open_for_set(path);
	UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!fd)
		throw Error(path, "open", errno);
	return fd;
}

void set_dir_stream(const Host &host, int fd, const std::string &path, int stream_fd)
{
	call_set_dir(host, fd, path,
		     {.how = WSFS_DIR_STREAM, .stream_fd = stream_fd, .reserved = {}});
}

DirBirths dir_births(const Host &host, int fd, const std::string &path)
{
	struct wsfs_file_info info = {};
	const int result = host.kernel.ioctl(fd, WSFS_IOC_FILE_INFO, &info);

	if (result < 0)
		throw Error(path, "WSFS_IOC_FILE_INFO", -result);
	const auto place = from_kernel(info.dir_how);
	if (!place)
		throw Error(path, "has a place for new files that is not known here",
			    "wsctl and the loaded wsfs module may be of different versions");
	DirBirths births{.place = *place, .stream = std::nullopt};
	if (*place == DirPlace::stream && (info.flags & WSFS_FILE_STREAM))
		births.stream = info.stream;
	return births;
}

void set_dir_place(const Host &host, int fd, const std::string &path, DirPlace place)
{
	call_set_dir(host, fd, path, {.how = to_kernel(place), .stream_fd = -1, .reserved = {}});
}

} // namespace ws
