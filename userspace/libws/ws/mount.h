// SPDX-License-Identifier: GPL-2.0
// A mounted filesystem, held by an open file or directory on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ws/filesystem.h>
#include <ws/kernel.h>
#include <ws/stream.h>
#include <ws/sysfs.h>
#include <ws/unique_fd.h>
#include <ws/xfs_geometry.h>

namespace ws
{

class Mount
{
public:
	// The filesystem that @path is on. Throws Error off wsfs and XFS.
	static Mount at(const Host &host, const std::string &path);

	[[nodiscard]] const std::string &path() const noexcept { return path_; }
	[[nodiscard]] int fd() const noexcept { return fd_.get(); }
	[[nodiscard]] const Filesystem &filesystem() const noexcept { return filesystem_; }
	[[nodiscard]] const Geometry &geometry() const noexcept { return filesystem_.geometry; }

	// Streams of the data device, whether reserved or not. Throws Error.
	[[nodiscard]] std::uint32_t streams() const;
	// Any free one, ours until the object goes. Throws Error.
	[[nodiscard]] Stream reserve() const;
	// What sysfs tells; nothing on plain XFS. Throws Error.
	[[nodiscard]] std::optional<DeviceState> state() const;
	// Free space and inodes of each AG; empty where the kernel does not tell.
	[[nodiscard]] std::vector<AgUsage> ag_usage() const;

private:
	Mount(const Host &host, std::string path, UniqueFd fd, Filesystem filesystem)
	    : host_(host), path_(std::move(path)), fd_(std::move(fd)),
	      filesystem_(std::move(filesystem))
	{
	}

	Host host_;
	std::string path_;
	UniqueFd fd_;
	Filesystem filesystem_;
};

} // namespace ws
