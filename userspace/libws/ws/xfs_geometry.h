// SPDX-License-Identifier: GPL-2.0
// Keeps the headers of xfslibs out of everybody else's way.
#pragma once

#include <ws/geometry.h>
#include <ws/kernel.h>

namespace ws
{

// XFS_IOC_FSGEOMETRY. Returns 0 or -errno.
int read_xfs_geometry(const Host &host, int fd, Geometry &geometry) noexcept;

} // namespace ws
