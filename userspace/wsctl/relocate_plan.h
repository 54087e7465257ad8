// SPDX-License-Identifier: GPL-2.0
// What of a file lies outside its AGs, and in which pieces to move it. Only
// arithmetic; offsets and lengths are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ws/ag_set.h>
#include <ws/extents.h>

namespace wsctl
{

struct Stray {
	std::uint64_t offset = 0;
	std::uint64_t length = 0;
	std::uint32_t ag = 0;
	bool operator==(const Stray &) const = default;
};

struct RelocatePlan {
	std::vector<Stray> strays;	   // what to move, in order
	bool more = false;		   // than these
	std::uint64_t stray_bytes = 0;	   // of all
	std::uint64_t unwritten_bytes = 0; // outside, preallocated: stays
	std::uint64_t shared_bytes = 0;	   // outside, shared with other files: stays
	ws::AgSet from;			   // where the strays lie
	ws::AgSet left;			   // where what stays lies
	bool shares = false;		   // some block is shared, wherever it lies
	// The start of some block with data that is the file's alone.
	std::optional<std::uint64_t> own_block;
};

class RelocatePlanner
{
public:
	struct Rules {
		ws::AgSet home;
		std::uint64_t size = 0; // of the file
		bool shared = false;	// move what is shared as well
		std::size_t most = 65536;
	};

	explicit RelocatePlanner(Rules rules) : rules_(std::move(rules)) {}
	// The next extent in the file, and its AG where it is no hole.
	void add(const ws::Extent &extent, std::optional<std::uint32_t> ag);
	[[nodiscard]] RelocatePlan take() && { return std::move(plan_); }

private:
	void stray(std::uint64_t offset, std::uint64_t length, std::uint32_t ag);

	Rules rules_;
	RelocatePlan plan_;
};

// A part of the file and where its copy is in the donor.
struct Piece {
	std::uint64_t file_offset = 0;
	std::uint64_t donor_offset = 0;
	std::uint64_t length = 0;
	bool operator==(const Piece &) const = default;
};

struct Batch {
	std::vector<Piece> pieces;
	std::uint64_t bytes = 0;       // of the pieces
	std::uint64_t donor_bytes = 0; // the same in whole blocks
};

// Deals strays out in batches that one donor takes at a time.
class Batcher
{
public:
	// @strays have to live as long.
	Batcher(const std::vector<Stray> &strays, std::uint64_t block)
	    : strays_(strays), block_(block)
	{
	}

	// Up to @most bytes, a block at least; nothing at the end.
	std::optional<Batch> next(std::uint64_t most);
	// The batch that came last comes again.
	void again() noexcept
	{
		index_ = last_index_;
		done_ = last_done_;
	}

private:
	const std::vector<Stray> &strays_;
	std::uint64_t block_;
	std::size_t index_ = 0;
	std::uint64_t done_ = 0; // of that one
	std::size_t last_index_ = 0;
	std::uint64_t last_done_ = 0;
};

// How much is copied before it is exchanged, and exchanged at a time: the less,
// the less a writer can get in between.
struct Effort {
	std::uint64_t batch;
	std::uint64_t exchange;
};

constexpr unsigned relocate_tries = 6;
// Of try number @number, from 0 on. @rate: bytes a second at most, 0 for any.
Effort effort_of(unsigned number, std::uint64_t rate, std::uint64_t block);

// The AGs of @home in the order to look for room: @first, if it is one of them,
// and the others in turn, so that @turn spreads files that have no first one.
std::vector<std::uint32_t> ag_order(const ws::AgSet &home, std::optional<std::uint32_t> first,
				    std::uint64_t turn);

} // namespace wsctl
