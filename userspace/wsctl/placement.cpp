// SPDX-License-Identifier: GPL-2.0
#include "placement.h"

#include <cerrno>

#include <sys/stat.h>

#include <fmt/format.h>

#include <ws/error.h>

namespace wsctl
{

const ws::Groups &OpenFile::groups() const noexcept
{
	return shape.realtime ? filesystem.geometry.rt_groups : filesystem.geometry.ags;
}

std::optional<std::uint32_t> OpenFile::group_of(const ws::Extent &extent) const noexcept
{
	if (!extent.sector)
		return std::nullopt;
	return groups().group_of(*extent.sector);
}

const ws::AgSet &OpenFile::ag_set(std::uint32_t id) const
{
	const ws::StreamState *found = state ? state->find(id) : nullptr;

	if (!found)
		throw ws::Error(path, fmt::format("there is no stream {} on its filesystem", id),
				state ? "'wsctl info' lists the streams"
				      : "plain XFS tells of no streams; use --isolated A.. -- B..");
	return found->ag_set;
}

OpenFile Opener::open(const std::string &path)
{
	OpenFile file;
	struct stat st = {};

	if (stat(path.c_str(), &st) != 0)
		throw ws::Error(path, "stat", errno);
	if (!S_ISREG(st.st_mode))
		throw ws::Error(path, "is not a regular file", "name regular files");
	file.path = path;
	file.fd = ws::open_for_info(path);
	file.filesystem = ws::Filesystem::of(host_, file.fd.get(), path);
	file.shape = ws::file_shape(host_, file.fd.get(), path, file.filesystem.geometry);
	if (file.filesystem.type == ws::Filesystem::Type::wsfs) {
		auto &state = states_[file.filesystem.dev];

		if (!state)
			state = std::make_shared<ws::DeviceState>(
				ws::read_device(host_, file.filesystem.dev));
		file.state = state;
		file.stream = ws::file_stream(host_, file.fd.get(), path);
	}
	return file;
}

} // namespace wsctl
