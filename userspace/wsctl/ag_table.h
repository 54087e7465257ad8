// SPDX-License-Identifier: GPL-2.0
// Free space and files by AG and by stream.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <vector>

#include <ws/ag_set.h>
#include <ws/mount.h>
#include <ws/sysfs.h>

#include "json.h"
#include "progress.h"

namespace wsctl
{

struct AgTotals {
	std::uint64_t blocks = 0;
	std::uint64_t free_blocks = 0;
	std::uint64_t inodes = 0;
};

class AgTable
{
public:
	// Asks the kernel; empty where it does not tell.
	explicit AgTable(const ws::Mount &mount);

	[[nodiscard]] bool empty() const noexcept { return usage_.empty(); }
	[[nodiscard]] AgTotals totals(const ws::AgSet &set) const;
	[[nodiscard]] AgTotals totals() const;
	// With a column for the streams that own each AG, where @state is given.
	void write(std::ostream &out, const ws::DeviceState *state) const;
	[[nodiscard]] Json json(const ws::DeviceState *state) const;
	[[nodiscard]] std::uint64_t bytes(std::uint64_t blocks) const noexcept
	{
		return blocks * block_size_;
	}

	// Asks for the largest free extent of each AG, which takes as long as there are
	// extents. Takes CAP_SYS_ADMIN; throws ws::Error.
	void find_largest(const ws::Host &host, const ws::Mount &mount, Progress &progress);

private:
	std::uint32_t block_size_;
	std::vector<ws::AgUsage> usage_;
	std::vector<std::uint64_t> largest_; // free bytes in one piece, by AG; may be empty
};

} // namespace wsctl
