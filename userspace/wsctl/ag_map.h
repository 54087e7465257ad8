// SPDX-License-Identifier: GPL-2.0
// Which data lies in which AG, as a heat map with a row for each stream.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <ws/ag_set.h>
#include <ws/geometry.h>

#include "drawing.h"
#include "json.h"

namespace wsctl
{

struct MapCell {
	std::uint64_t sectors = 0;
	std::uint64_t extents = 0;
	std::uint64_t files = 0;
};

using MapCells = std::map<std::uint32_t, MapCell>; // by AG

struct MapRow {
	std::string label;
	std::optional<std::uint32_t> stream;
	std::optional<ws::AgSet> ag_set; // of the stream
	std::uint64_t files = 0;
	MapCells cells;

	[[nodiscard]] bool is_stray(std::uint32_t agno) const
	{
		return ag_set && !ag_set->contains(agno);
	}
	[[nodiscard]] std::uint64_t sectors() const noexcept;
	[[nodiscard]] std::uint64_t stray_sectors() const;
};

// Of one filesystem.
struct AgMap {
	std::string title;
	ws::Groups ags;
	std::vector<MapRow> rows;
};

// @columns is the width of the terminal.
void write_map(std::ostream &out, const AgMap &map, std::size_t columns, bool colour);
Drawing draw_map(const AgMap &map);
Json map_json(const AgMap &map);

} // namespace wsctl
