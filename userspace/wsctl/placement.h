// SPDX-License-Identifier: GPL-2.0
// A file, what it is on, and whose stream it carries.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <sys/types.h>

#include <ws/extents.h>
#include <ws/file_stream.h>
#include <ws/filesystem.h>
#include <ws/sysfs.h>
#include <ws/unique_fd.h>

namespace wsctl
{

struct OpenFile {
	std::string path;
	ws::UniqueFd fd;
	ws::Filesystem filesystem;
	ws::FileShape shape;
	std::optional<ws::FileStream> stream;
	std::shared_ptr<const ws::DeviceState> state; // null on plain XFS

	// The AG (or realtime group) of an extent that is no hole.
	[[nodiscard]] std::optional<std::uint32_t>
	group_of(const ws::Extent &extent) const noexcept;
	[[nodiscard]] const ws::Groups &groups() const noexcept;
	// The AGs that a stream owns. Throws ws::Error where there is none with this id.
	[[nodiscard]] const ws::AgSet &ag_set(std::uint32_t id) const;
};

// Opens files, from any thread; asks once about each filesystem.
class Opener
{
public:
	explicit Opener(const ws::Host &host) : host_(host) {}
	OpenFile open(const std::string &path);
	// One that is open; nothing where it is no regular file.
	std::optional<OpenFile> adopt(const std::string &path, ws::UniqueFd fd);

private:
	struct Known {
		ws::Filesystem filesystem;
		std::shared_ptr<const ws::DeviceState> state;
	};

	Known about(dev_t device, int fd, const std::string &path);

	const ws::Host &host_;
	std::mutex mutex_;
	std::map<dev_t, Known> known_; // by st_dev
};

} // namespace wsctl
