// SPDX-License-Identifier: GPL-2.0
// How a filesystem divides its device; sectors are 512 bytes as in xfs_bmap.
#pragma once

#include <cstdint>
#include <optional>

namespace ws
{

constexpr std::uint32_t sector_size = 512;

// Groups of equal size, one behind the other: allocation or realtime groups.
struct Groups {
	std::uint32_t count = 0;
	std::uint64_t sectors = 0; // of each group, 0 where there are no groups

	[[nodiscard]] std::optional<std::uint32_t> group_of(std::uint64_t sector) const noexcept;
	// Where @sector lies within its group; 0 where there are no groups.
	[[nodiscard]] std::uint64_t offset_of(std::uint64_t sector) const noexcept;
};

struct Geometry {
	std::uint32_t block_size = 0;
	std::uint32_t ag_blocks = 0;
	Groups ags;
	Groups rt_groups;
	std::uint64_t stripe_unit = 0;	// in sectors, 0 for none
	std::uint64_t stripe_width = 0; // in sectors
	bool rmap = false;		// GETFSMAP tells which inode owns a block
};

} // namespace ws
