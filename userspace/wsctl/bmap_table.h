// SPDX-License-Identifier: GPL-2.0
// The table of xfs_bmap -vvp with two columns more.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include <ws/extents.h>

#include "context.h"
#include "placement.h"

namespace wsctl
{

enum class Verdict { none, ok, stray };

struct BmapRow {
	ws::Extent extent;
	std::optional<std::uint32_t> group;
	std::uint64_t group_offset = 0;
	unsigned flags = 0; // octal digits as in xfs_bmap
	std::vector<std::uint32_t> owners;
	Verdict verdict = Verdict::none;
};

constexpr unsigned flag_shared = 0100000;
constexpr unsigned flag_unwritten = 0010000;
constexpr unsigned flag_begin_unit = 0001000;
constexpr unsigned flag_end_unit = 0000100;
constexpr unsigned flag_begin_width = 0000010;
constexpr unsigned flag_end_width = 0000001;

BmapRow make_row(const OpenFile &file, const ws::Extent &extent);

// Writes a table row by row, once it has seen all rows.
class BmapTable
{
public:
	BmapTable(const Context &context, const OpenFile &file);

	void fit(const BmapRow &row);
	void write_head() const;
	void write(const BmapRow &row) const;

private:
	const Context &context_;
	const OpenFile &file_;
	// Widths of columns, at least those of xfs_bmap.
	std::size_t offset_ = 16;
	std::size_t blocks_ = 16;
	std::size_t group_ = 2;
	std::size_t group_offset_ = 16;
	std::size_t total_ = 5;
	std::size_t owners_ = 6;
};

void write_legend(std::ostream &out);

} // namespace wsctl
