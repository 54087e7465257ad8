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

std::string owners_text(const BmapRow &row)
{
	return row.owners.empty() ? "-" : fmt::format("{}", fmt::join(row.owners, ","));
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

BmapTable::BmapTable(const Context &context, const OpenFile &file) : context_(context), file_(file)
{
	if (file.groups().sectors == 0) {
		group_ = 0;
		group_offset_ = 0;
	} else {
		group_ = std::max(group_, fmt::formatted_size("{}", file.groups().count));
	}
}

void BmapTable::fit(const BmapRow &row)
{
	const Cells cells = cells_of(row);

	offset_ = std::max(offset_, cells.offset.size());
	blocks_ = std::max(blocks_, cells.blocks.size());
	group_offset_ = std::max(group_offset_, cells.group_offset.size());
	total_ = std::max(total_, cells.total.size());
	owners_ = std::max(owners_, owners_text(row).size());
}

void BmapTable::write_head() const
{
	const bool realtime = file_.shape.realtime;
	const bool grouped = file_.groups().sectors != 0;
	const char *group = realtime ? "RG" : "AG";
	const char *group_offset = realtime ? "RG-OFFSET" : "AG-OFFSET";

	context_.out << escape(file_.path) << ":\n"
		     << fmt::format(
				"{:>4}: {:<{}} {:<{}} {:>{}} {:<{}} {:>{}} FLAGS  {:>{}} PLACE\n",
				"EXT", "FILE-OFFSET", offset_,
				realtime ? "RT-BLOCK-RANGE" : "BLOCK-RANGE", blocks_,
				grouped ? group : "", group_, grouped ? group_offset : "",
				group_offset_, "TOTAL", total_, "STREAM", owners_);
}

void BmapTable::write(const BmapRow &row) const
{
	const Cells cells = cells_of(row);
	std::ostream &out = context_.out;

	out << fmt::format("{:>4}: {:<{}} {:<{}} {:>{}} {:<{}} {:>{}}", row.extent.index,
			   cells.offset, offset_, cells.blocks, blocks_,
			   row.group ? fmt::format("{}", *row.group) : "", group_,
			   cells.group_offset, group_offset_, cells.total, total_);
	if (row.extent.sector)
		out << fmt::format(" {:06o} {:>{}} {}", row.flags, owners_text(row), owners_,
				   verdict_text(context_, row.verdict));
	out << '\n';
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
