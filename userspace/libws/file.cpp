// SPDX-License-Identifier: GPL-2.0
#include <ws/file.h>

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <ws/error.h>
#include <ws/filesystem.h>

namespace ws
{

UniqueFd open_for_set(const std::string &path)
{
	struct stat st = {};

	// Looked at first: opening a device or a FIFO for writing may do things.
	if (stat(path.c_str(), &st) != 0)
		throw Error(path, "stat", errno);
	if (!S_ISREG(st.st_mode))
		throw Error(path, "is not a regular file", "only regular files carry streams");
	UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
	if (!fd)
		throw Error(path, "open for writing", errno);
	return fd;
}

File File::for_set(const Host &host, const std::string &path)
{
	return {host, open_for_set(path), path};
}

File File::for_info(const Host &host, const std::string &path)
{
	return {host, open_for_info(path), path};
}

std::optional<FileStream> File::stream() const
{
	return file_stream(host_, fd_.get(), path_);
}

void File::extents(const std::function<void(const Extent &)> &visit) const
{
	const Filesystem filesystem = Filesystem::of(host_, fd_.get(), path_);
	const FileShape shape = file_shape(host_, fd_.get(), path_, filesystem.geometry);

	walk_extents(host_, fd_.get(), path_, shape, visit);
}

} // namespace ws
