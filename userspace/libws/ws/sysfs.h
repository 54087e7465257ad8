// SPDX-License-Identifier: GPL-2.0
// What /sys/fs/wsfs/DEV/ tells, see docs/interface.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ws/ag_set.h>
#include <ws/kernel.h>

namespace ws
{

struct StreamState {
	std::uint32_t id = 0;
	AgSet ag_set;
	bool reserved = false;
	std::uint64_t files = 0;
	std::uint64_t homed = 0;
	std::uint64_t missed = 0;
	std::uint64_t anchored = 0;
	std::uint64_t overflowed = 0;
	// Ids of the streams in whose AGs it goes on when its own are full; the first ones.
	std::vector<std::uint32_t> overflow_order;
	std::uint64_t bytes = 0;
};

struct DeviceState {
	std::string lower; // type of the lower filesystem
	std::uint64_t hints_reset = 0;
	std::vector<StreamState> streams; // by id

	// The stream with this id, or null.
	[[nodiscard]] const StreamState *find(std::uint32_t id) const noexcept;
	// Ids of the streams whose set holds @agno, ascending.
	[[nodiscard]] std::vector<std::uint32_t> owners_of(std::uint32_t agno) const;
	[[nodiscard]] std::size_t reserved() const noexcept;
};

// Throws Error where a file is missing or malformed.
DeviceState read_device(const Host &host, const std::string &dev);

} // namespace ws
