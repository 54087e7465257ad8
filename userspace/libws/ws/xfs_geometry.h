// SPDX-License-Identifier: GPL-2.0
// Keeps the headers of xfslibs out of everybody else's way.
#pragma once

#include <cstdint>
#include <vector>

#include <ws/geometry.h>
#include <ws/kernel.h>

namespace ws
{

// Of one AG.
struct AgUsage {
	std::uint32_t blocks = 0;
	std::uint32_t free_blocks = 0;
	std::uint32_t inodes = 0; // in use: files, directories, …
};

// XFS_IOC_FSGEOMETRY. Returns 0 or -errno.
int read_xfs_geometry(const Host &host, int fd, Geometry &geometry) noexcept;

// XFS_IOC_AG_GEOMETRY for each of @count AGs; empty where it is not answered.
std::vector<AgUsage> read_ag_usage(const Host &host, int fd, std::uint32_t count);

} // namespace ws
