// SPDX-License-Identifier: GPL-2.0
#include <ws/mount.h>

namespace ws
{

Mount Mount::at(const Host &host, const std::string &path)
{
	UniqueFd fd = open_for_info(path);
	Filesystem filesystem = Filesystem::of(host, fd.get(), path);

	return {host, path, std::move(fd), std::move(filesystem)};
}

std::uint32_t Mount::streams() const
{
	return streams_available(host_, fd_.get(), path_);
}

Stream Mount::reserve() const
{
	return Stream::reserve(host_, fd_.get(), path_);
}

std::optional<DeviceState> Mount::state() const
{
	if (filesystem_.type != Filesystem::Type::wsfs)
		return std::nullopt;
	return read_device(host_, filesystem_.dev);
}

std::vector<AgUsage> Mount::ag_usage() const
{
	return read_ag_usage(host_, fd_.get(), filesystem_.geometry.ags.count);
}

} // namespace ws
