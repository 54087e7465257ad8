// SPDX-License-Identifier: GPL-2.0
// The filesystem of an open file: wsfs, or XFS without it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include <ws/geometry.h>
#include <ws/kernel.h>
#include <ws/unique_fd.h>

namespace ws
{

struct Filesystem {
	enum class Type { wsfs, xfs };

	Type type = Type::xfs;
	Geometry geometry;
	std::uint32_t streams = 0;
	dev_t device = 0; // the one below wsfs
	std::string dev;  // directory below /sys/fs/wsfs; empty on plain XFS

	// @path is for messages. Throws Error on any other filesystem.
	static Filesystem of(const Host &host, int fd, const std::string &path);
};

// Opens @path for looking at it; never waits for a FIFO's other end.
UniqueFd open_for_info(const std::string &path);

} // namespace ws
