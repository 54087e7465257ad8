// SPDX-License-Identifier: GPL-2.0
// What relocate tells of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ws/ag_set.h>
#include <ws/error.h>

#include "context.h"
#include "json.h"
#include "relocate_plan.h"

namespace wsctl
{

struct RelocateReport {
	std::string path;
	std::optional<std::uint32_t> stream; // the one it is moved for
	ws::AgSet home;
	bool dry_run = false;
	RelocatePlan plan; // at the beginning
	RelocatePlan left; // at the end
	std::uint64_t moved = 0;
	std::optional<bool> marked; // has XFS's mark of a shared file at the end
};

// All there is to say on standard output; @verbose: of files that are home too.
void write_report(const Context &context, const RelocateReport &report, bool verbose);
// The members of the file's object, without path and error.
void add_report(Json &entry, const RelocateReport &report);
// "3.0 of 64.0 MiB, 12.5 MiB/s, 0:05 left"
std::string relocate_progress_text(std::uint64_t done, std::uint64_t all, double seconds);

} // namespace wsctl
