// SPDX-License-Identifier: GPL-2.0
#include "bmap_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text.h"

namespace wsctl
{

namespace
{

unsigned flags_of(const OpenFile &file, const ws::Extent &extent)
{
	const ws::Geometry &geometry = file.filesystem.geometry;
	unsigned flags = 0;

	if (extent.shared)
		flags |= flag_shared;
	if (extent.unwritten)
		flags |= flag_unwritten;
	if (file.shape.realtime || geometry.stripe_unit == 0 || geometry.stripe_width == 0)
		return flags;
	const std::uint64_t begin = extent.sector.value_or(0);
	const std::uint64_t end = begin + extent.length;
	if (begin % geometry.stripe_unit != 0)
		flags |= flag_begin_unit;
	if (end % geometry.stripe_unit != 0)
		flags |= flag_end_unit;
	if (begin % geometry.stripe_width != 0)
		flags |= flag_begin_width;
	if (end % geometry.stripe_width != 0)
		flags |= flag_end_width;
	return flags;
}

struct Cells {
	std::string offset;
	std::string blocks;
	std::string group_offset;
	std::string total;
};

Cells cells_of(const BmapRow &row)
{
	const ws::Extent &extent = row.extent;
	const std::uint64_t last = extent.length - 1;
	Cells cells;

	cells.offset = fmt::format("[{}..{}]:", extent.offset, extent.offset + last);
	cells.total = fmt::format("{}", extent.length);
	cells.blocks = extent.sector ? fmt::format("{}..{}", *extent.sector, *extent.sector + last)
				     : "hole";
	if (row.group)
		cells.group_offset =
			fmt::format("({}..{})", row.group_offset, row.group_offset + last);
	return cells;
}

struct Widths {
	std::size_t offset = 16;
	std::size_t blocks = 16;
	std::size_t group = 2;
	std::size_t group_offset = 16;
	std::size_t total = 5;
	std::size_t owners = 6;
};

std::string owners_text(const BmapRow &row)
{
	return row.owners.empty() ? "-" : fmt::format("{}", fmt::join(row.owners, ","));
}

Widths widths_of(const OpenFile &file, const std::vector<BmapRow> &rows)
{
	Widths widths;

	if (file.groups().sectors == 0) {
		widths.group = 0;
		widths.group_offset = 0;
	} else {
		widths.group =
			std::max(widths.group, fmt::formatted_size("{}", file.groups().count));
	}
	for (const BmapRow &row : rows) {
		const Cells cells = cells_of(row);

		widths.offset = std::max(widths.offset, cells.offset.size());
		widths.blocks = std::max(widths.blocks, cells.blocks.size());
		widths.group_offset = std::max(widths.group_offset, cells.group_offset.size());
		widths.total = std::max(widths.total, cells.total.size());
		widths.owners = std::max(widths.owners, owners_text(row).size());
	}
	return widths;
}

std::string verdict_text(const Context &context, Verdict verdict)
{
	switch (verdict) {
	case Verdict::ok:
		return "ok";
	case Verdict::stray:
		return context.alarm("STRAY");
	case Verdict::none:
		break;
	}
	return "-";
}

} // namespace

BmapRow make_row(const OpenFile &file, const ws::Extent &extent)
{
	BmapRow row;

	row.extent = extent;
	row.group = file.group_of(extent);
	if (!extent.sector)
		return row;
	row.group_offset = file.groups().offset_of(*extent.sector);
	row.flags = flags_of(file, extent);
	// Streams own AGs; realtime groups have no owner yet.
	if (!row.group || file.shape.realtime || !file.state)
		return row;
	row.owners = file.state->owners_of(*row.group);
	if (file.stream)
		row.verdict = file.ag_set(file.stream->id).contains(*row.group) ? Verdict::ok
										: Verdict::stray;
	return row;
}

void write_table(const Context &context, const OpenFile &file, const std::vector<BmapRow> &rows)
{
	const Widths widths = widths_of(file, rows);
	const bool realtime = file.shape.realtime;
	const bool grouped = file.groups().sectors != 0;
	const char *group = realtime ? "RG" : "AG";
	const char *group_offset = realtime ? "RG-OFFSET" : "AG-OFFSET";
	std::ostream &out = context.out;

	out << escape(file.path) << ":\n";
	out << fmt::format("{:>4}: {:<{}} {:<{}} {:>{}} {:<{}} {:>{}} FLAGS  {:>{}} PLACE\n", "EXT",
			   "FILE-OFFSET", widths.offset,
			   realtime ? "RT-BLOCK-RANGE" : "BLOCK-RANGE", widths.blocks,
			   grouped ? group : "", widths.group, grouped ? group_offset : "",
			   widths.group_offset, "TOTAL", widths.total, "STREAM", widths.owners);
	for (const BmapRow &row : rows) {
		const Cells cells = cells_of(row);

		out << fmt::format("{:>4}: {:<{}} {:<{}} {:>{}} {:<{}} {:>{}}", row.extent.index,
				   cells.offset, widths.offset, cells.blocks, widths.blocks,
				   row.group ? fmt::format("{}", *row.group) : "", widths.group,
				   cells.group_offset, widths.group_offset, cells.total,
				   widths.total);
		if (row.extent.sector)
			out << fmt::format(" {:06o} {:>{}} {}", row.flags, owners_text(row),
					   widths.owners, verdict_text(context, row.verdict));
		out << '\n';
	}
}

void write_legend(std::ostream &out)
{
	out << fmt::format(
		" FLAGS, added up:\n"
		"    {:06o} shared with another file\n"
		"    {:06o} unwritten: preallocated, reads as zeroes\n"
		"    {:06o} begins off a stripe unit\n"
		"    {:06o} ends off a stripe unit\n"
		"    {:06o} begins off a stripe width\n"
		"    {:06o} ends off a stripe width\n"
		" STREAM: whose AGs these are; PLACE: ok inside the AGs of the file's own\n"
		" stream, STRAY outside, - where the file carries none\n",
		flag_shared, flag_unwritten, flag_begin_unit, flag_end_unit, flag_begin_width,
		flag_end_width);
}

} // namespace wsctl
