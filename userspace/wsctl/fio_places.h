// SPDX-License-Identifier: GPL-2.0
// Where the files of a fio job lie after a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ws/ag_set.h>
#include <ws/kernel.h>

#include "fio_plan.h"

namespace wsctl
{

// The files of one role, or of all.
struct FioPlaces {
	std::uint64_t files = 0;
	std::uint64_t extents = 0;	// with data
	std::uint64_t most_extents = 0; // of one file
	// By slot: the AGs with data; where there is no slot, of the files without.
	std::map<std::optional<std::uint32_t>, ws::AgSet> ags;

	[[nodiscard]] double extents_per_file() const noexcept;
	[[nodiscard]] double ags_per_stream() const noexcept;
	// AGs with data of more than one stream.
	[[nodiscard]] std::uint64_t shared_ags() const;
};

struct FioPlacement {
	std::map<std::string, FioPlaces> roles;
	FioPlaces all;
};

// The files below @dir. Throws ws::Error.
FioPlacement look_at_places(const ws::Host &host, const FioPlan &plan, const std::string &dir);

} // namespace wsctl
