// SPDX-License-Identifier: GPL-2.0
// Where a file's data lies, from FIEMAP, with the holes between.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <ws/geometry.h>
#include <ws/kernel.h>

namespace ws
{

// In sectors of 512 bytes.
struct Extent {
	std::uint64_t index = 0; // counts holes too, as in xfs_bmap
	std::uint64_t offset = 0;
	std::uint64_t length = 0;
	std::optional<std::uint64_t> sector; // none: a hole
	bool unwritten = false;
	bool shared = false;
};

// What decides how far a file's map goes and what device it lies on.
struct FileShape {
	std::uint64_t size_end = 0; // in sectors, rounded up to a block
	std::uint64_t end = 0;	    // what lies behind this is not shown
	bool realtime = false;
};

FileShape file_shape(const Host &host, int fd, const std::string &path, const Geometry &geometry);

// Calls @visit for each extent and hole up to the shape's end, in order and in
// bounded memory. A file without data has neither. Data is written back first.
void walk_extents(const Host &host, int fd, const std::string &path, const FileShape &shape,
		  const std::function<void(const Extent &)> &visit);

} // namespace ws
