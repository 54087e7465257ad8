// SPDX-License-Identifier: GPL-2.0
// Moves what of a file lies outside its AGs.
//
// A donor in the right AG gets a copy, which is written to the disk; then
// deduplication, which compares the bytes with both files locked, has the file
// share the donor's blocks in place of its own; then the donor lets go of them.
// So nobody who reads or writes the file ever sees another byte, and what is
// written meanwhile stays: that part is left, and tried again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "context.h"
#include "donors.h"
#include "pace.h"
#include "placement.h"
#include "relocate_plan.h"

namespace wsctl
{

struct Relocated {
	RelocatePlan plan; // at the beginning
	RelocatePlan left; // at the end
	std::uint64_t moved = 0;
	bool full = false; // no room in the AGs for what is left
};

class FileMover
{
public:
	struct Job {
		const OpenFile &file; // open for writing
		ws::AgSet home;
		std::vector<std::uint32_t> order; // of its AGs, to look for room
		bool shared = false;
	};
	// @moved: so much more is moved.
	using Tick = std::function<void(std::uint64_t moved)>;

	FileMover(const Context &context, Donors &donors, Pace &pace, Job job)
	    : context_(context), donors_(donors), pace_(pace), job_(std::move(job))
	{
	}

	// What there is to do.
	[[nodiscard]] RelocatePlan look() const;
	// Does it; ends early where the process is asked to end. Throws ws::Error.
	Relocated move(const RelocatePlan &plan, const Tick &tick);

private:
	std::uint64_t move_strays(const std::vector<Stray> &strays, unsigned number,
				  const Tick &tick);
	std::uint64_t move_batch(const Batch &batch, std::uint64_t step, int donor);
	// False where the file has become shorter.
	bool copy(const Piece &piece, int donor);
	std::uint64_t exchange(const Piece &piece, std::uint64_t step, int donor);
	std::uint64_t dedupe(const Piece &piece, int donor) const;

	const Context &context_;
	Donors &donors_;
	Pace &pace_;
	Job job_;
	bool full_ = false;
	std::vector<char> buffer_;
};

} // namespace wsctl
