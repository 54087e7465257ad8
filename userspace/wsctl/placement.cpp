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

Opener::Known Opener::about(dev_t device, int fd, const std::string &path)
{
	const std::lock_guard lock(mutex_);
	const auto found = known_.find(device);

	if (found != known_.end())
		return found->second;
	Known known{.filesystem = ws::Filesystem::of(host_, fd, path), .state = nullptr};
	if (known.filesystem.type == ws::Filesystem::Type::wsfs)
		known.state = std::make_shared<ws::DeviceState>(
			ws::read_device(host_, known.filesystem.dev));
	return known_.emplace(device, std::move(known)).first->second;
}

std::optional<OpenFile> Opener::adopt(const std::string &path, ws::UniqueFd fd)
{
	struct stat st = {};

	if (fstat(fd.get(), &st) != 0)
		throw ws::Error(path, "fstat", errno);
	if (!S_ISREG(st.st_mode))
		return std::nullopt;
	Known known = about(st.st_dev, fd.get(), path);
	OpenFile file{.path = path,
		      .fd = std::move(fd),
		      .filesystem = std::move(known.filesystem),
		      .shape = {},
		      .stream = std::nullopt,
		      .state = std::move(known.state)};
	file.shape = ws::file_shape(host_, file.fd.get(), path, file.filesystem.geometry);
	if (file.filesystem.type == ws::Filesystem::Type::wsfs)
		file.stream = ws::file_stream(host_, file.fd.get(), path);
	return file;
}

OpenFile Opener::open(const std::string &path)
{
	struct stat st = {};

	// Looked at first: opening a device or a FIFO may do things.
	if (stat(path.c_str(), &st) != 0)
		throw ws::Error(path, "stat", errno);
	if (S_ISREG(st.st_mode)) {
		if (auto file = adopt(path, ws::open_for_info(path)))
			return std::move(*file);
	}
	throw ws::Error(path, "is not a regular file", "name regular files");
}

} // namespace wsctl
