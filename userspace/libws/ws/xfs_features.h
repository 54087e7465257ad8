// SPDX-License-Identifier: GPL-2.0
// Which of its features an XFS filesystem has.
#pragma once

#include <optional>

#include <ws/kernel.h>

namespace ws
{

struct XfsFeatures {
	bool crc = false;
	bool reflink = false;
	bool rmapbt = false;
	bool realtime = false; // it has a realtime volume
	std::uint32_t agcount = 0;
};

// Nothing where @fd is on no XFS, nor on a wsfs that lets the question through.
std::optional<XfsFeatures> read_xfs_features(const Host &host, int fd) noexcept;

} // namespace ws
