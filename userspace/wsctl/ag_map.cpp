// SPDX-License-Identifier: GPL-2.0
#include "ag_map.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "text.h"

namespace wsctl
{

namespace
{

// Nothing, and nine shades of something.
constexpr std::string_view shades = " .:-=+*#%@";
constexpr std::size_t levels = shades.size() - 1;

std::string size_text(std::uint64_t sectors)
{
	return short_size(sectors * ws::sector_size);
}

// Some AGs that are shown as one.
struct Shown {
	std::uint64_t sectors = 0;
	bool stray = false;
};

std::vector<Shown> shown_cells(const MapRow &row, std::size_t columns, std::uint32_t per_cell)
{
	std::vector<Shown> cells(columns);

	for (const auto &[agno, cell] : row.cells) {
		const std::size_t at = agno / per_cell;

		// Grown meanwhile.
		if (at >= cells.size())
			continue;
		cells[at].sectors += cell.sectors;
		cells[at].stray |= row.is_stray(agno);
	}
	return cells;
}

std::size_t level_of(std::uint64_t sectors, std::uint64_t most)
{
	if (sectors == 0 || most == 0)
		return 0;
	const double share = static_cast<double>(sectors) / static_cast<double>(most);
	return std::clamp<std::size_t>(static_cast<std::size_t>(share * levels + 0.999), 1, levels);
}

std::string cell_text(const Shown &cell, std::uint64_t most, bool colour)
{
	// Of the terminal's 256 colours, from dark to light.
	constexpr std::array<int, levels> blues{17, 18, 19, 20, 21, 27, 33, 39, 45};
	constexpr std::array<int, levels> reds{52, 88, 124, 160, 196, 202, 203, 209, 210};
	const std::size_t level = level_of(cell.sectors, most);

	if (!colour || level == 0)
		return std::string(1, shades[level]);
	return fmt::format("\x1b[48;5;{}m{}\x1b[0m", (cell.stray ? reds : blues).at(level - 1),
			   shades[level]);
}

// Numbers of AGs, each above its column.
std::string ruler(std::size_t columns, std::uint32_t per_cell)
{
	constexpr std::size_t apart = 10;
	std::string text;

	for (std::size_t column = 0; column < columns; column += apart) {
		const std::string number = fmt::format("{}", column * per_cell);

		if (column + number.size() > columns)
			break;
		text.resize(column, ' ');
		text += number;
	}
	return text;
}

std::string title_of(const AgMap &map)
{
	return fmt::format("{}: {} of {}", map.title, plural(map.ags.count, "AG"),
			   binary_size(map.ags.sectors * ws::sector_size));
}

Colour shade(std::size_t level, bool stray)
{
	constexpr double light = 235;
	const double share = static_cast<double>(level) / levels;
	const auto fade = [&](double full) {
		return static_cast<std::uint8_t>(light + (full - light) * share);
	};

	if (level == 0)
		return {.red = 245, .green = 245, .blue = 245};
	return stray ? Colour{.red = fade(200), .green = fade(0), .blue = fade(0)}
		     : Colour{.red = fade(8), .green = fade(48), .blue = fade(140)};
}

} // namespace

std::uint64_t MapRow::sectors() const noexcept
{
	std::uint64_t sum = 0;

	for (const auto &[agno, cell] : cells)
		sum += cell.sectors;
	return sum;
}

std::uint64_t MapRow::stray_sectors() const
{
	std::uint64_t sum = 0;

	for (const auto &[agno, cell] : cells)
		sum += is_stray(agno) ? cell.sectors : 0;
	return sum;
}

void write_map(std::ostream &out, const AgMap &map, std::size_t columns, bool colour)
{
	constexpr std::size_t numbers = 34; // what stands right of the cells
	constexpr std::size_t least_cells = 16;
	std::size_t label = std::string_view("STREAM").size();

	for (const MapRow &row : map.rows)
		label = std::max(label, escape(row.label).size());
	const std::size_t used = label + numbers;
	const std::size_t room = columns > used + least_cells ? columns - used : least_cells;
	const auto per_cell = static_cast<std::uint32_t>((map.ags.count + room - 1) / room);
	const std::size_t cells = per_cell == 0 ? 0 : (map.ags.count + per_cell - 1) / per_cell;
	std::uint64_t most = 0;

	for (const MapRow &row : map.rows) {
		for (const Shown &cell : shown_cells(row, cells, per_cell))
			most = std::max(most, cell.sectors);
	}
	out << title_of(map) << '\n';
	out << fmt::format("{:>{}}  {:<{}}  {:>7}  {:>9}  {:>7}\n", "AG", label,
			   ruler(cells, per_cell), cells, "FILES", "DATA", "STRAY");
	for (const MapRow &row : map.rows) {
		std::string text;

		for (const Shown &cell : shown_cells(row, cells, per_cell))
			text += cell_text(cell, most, colour);
		out << fmt::format("{:>{}} |{}| {:>7}  {:>9}  {:>7}\n", escape(row.label), label,
				   text, row.files, size_text(row.sectors()),
				   row.ag_set ? size_text(row.stray_sectors()) : "-");
	}
	out << fmt::format("{:>{}}  '.' is little, '@' is {}{}\n", "", label, size_text(most),
			   per_cell > 1 ? fmt::format("; {} AGs in each place", per_cell) : "");
}

Drawing draw_map(const AgMap &map)
{
	constexpr double margin = 12;
	constexpr double label = 130;
	constexpr double numbers = 170;
	constexpr double line = 24;
	constexpr double top = 64;
	constexpr double widest = 18;
	constexpr double most_width = 1600;
	constexpr double text_drop = 16; // base line below the top of a line
	constexpr std::size_t apart = 8;
	const auto room = static_cast<std::size_t>(most_width);
	const auto per_cell = static_cast<std::uint32_t>(
		std::max<std::size_t>(1, (map.ags.count + room - 1) / room));
	const std::size_t cells = (map.ags.count + per_cell - 1) / per_cell;
	const double width =
		cells == 0 ? widest
			   : std::clamp(most_width / static_cast<double>(cells), 1.0, widest);
	const double left = margin + label;
	const double right = left + width * static_cast<double>(std::max<std::size_t>(cells, 16));
	const double gap = width > 4 ? 1 : 0;
	std::uint64_t most = 0;
	Drawing drawing{.width = right + numbers + margin,
			.height = top + line * static_cast<double>(map.rows.size()) + 2 * margin,
			.boxes = {},
			.words = {}};

	for (const MapRow &row : map.rows) {
		for (const Shown &cell : shown_cells(row, cells, per_cell))
			most = std::max(most, cell.sectors);
	}
	drawing.words.push_back({.x = margin, .y = 24, .text = title_of(map), .size = 15});
	drawing.words.push_back(
		{.x = left - 8, .y = top - 8, .text = "AG", .anchor = Words::Anchor::right});
	const auto step = static_cast<std::size_t>(
		std::max(1.0, static_cast<double>(apart) * widest / width / 4));
	for (std::size_t i = 0; i < cells; i += step)
		drawing.words.push_back({.x = left + width * (static_cast<double>(i) + 0.5),
					 .y = top - 8,
					 .text = fmt::format("{}", i * per_cell),
					 .anchor = Words::Anchor::middle,
					 .size = 10});
	drawing.words.push_back(
		{.x = right + 70, .y = top - 8, .text = "data", .anchor = Words::Anchor::right});
	drawing.words.push_back(
		{.x = right + 140, .y = top - 8, .text = "stray", .anchor = Words::Anchor::right});
	double y = top;
	for (const MapRow &row : map.rows) {
		const auto shown = shown_cells(row, cells, per_cell);

		drawing.words.push_back({.x = left - 8,
					 .y = y + text_drop,
					 .text = escape(row.label),
					 .anchor = Words::Anchor::right});
		for (std::size_t i = 0; i < shown.size(); i++)
			drawing.boxes.push_back(
				{.x = left + width * static_cast<double>(i),
				 .y = y,
				 .width = width - gap,
				 .height = line - 2,
				 .fill = shade(level_of(shown[i].sectors, most), shown[i].stray),
				 .tip = shown[i].sectors == 0
						? ""
						: fmt::format("{}, AG {}: {}{}", row.label,
							      i * per_cell,
							      size_text(shown[i].sectors),
							      shown[i].stray ? ", stray" : "")});
		drawing.words.push_back({.x = right + 70,
					 .y = y + text_drop,
					 .text = size_text(row.sectors()),
					 .anchor = Words::Anchor::right});
		drawing.words.push_back({.x = right + 140,
					 .y = y + text_drop,
					 .text = row.ag_set ? size_text(row.stray_sectors()) : "-",
					 .anchor = Words::Anchor::right});
		y += line;
	}
	return drawing;
}

Json map_json(const AgMap &map)
{
	Json object = Json::object();

	json_name(object, "title", map.title);
	object["ag_count"] = map.ags.count;
	object["ag_bytes"] = map.ags.sectors * ws::sector_size;
	Json &rows = object["rows"] = Json::array();
	for (const MapRow &row : map.rows) {
		Json entry = Json::object();

		json_name(entry, "label", row.label);
		entry["stream"] = row.stream ? Json(*row.stream) : Json();
		entry["ag_set"] = row.ag_set ? Json(row.ag_set->str()) : Json();
		entry["files"] = row.files;
		entry["bytes"] = row.sectors() * ws::sector_size;
		entry["stray_bytes"] =
			row.ag_set ? Json(row.stray_sectors() * ws::sector_size) : Json();
		Json &cells = entry["ags"] = Json::array();
		for (const auto &[agno, cell] : row.cells) {
			Json place = Json::object();

			place["ag"] = agno;
			place["bytes"] = cell.sectors * ws::sector_size;
			place["extents"] = cell.extents;
			place["files"] = cell.files;
			cells.push_back(std::move(place));
		}
		rows.push_back(std::move(entry));
	}
	return object;
}

} // namespace wsctl
