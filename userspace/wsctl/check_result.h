// SPDX-License-Identifier: GPL-2.0
// What wsctl check found out about each file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <ws/extents.h>

#include "commands.h"
#include "json.h"

namespace wsctl
{

// A group of files that wants its AGs for itself: named on the command line,
// or one stream's.
struct FileGroup {
	dev_t device = 0; // 0: whatever device
	std::uint64_t number = 0;
	auto operator<=>(const FileGroup &) const = default;
	[[nodiscard]] std::string name() const;
};

struct SharedAg {
	std::uint32_t agno = 0;
	ws::Extent extent; // the file's first one there
	FileGroup other;
	std::string other_path;
};

struct StrayExtent {
	ws::Extent extent;
	std::optional<std::uint32_t> agno;
};

struct FileResult {
	std::string path;
	dev_t device = 0;
	std::optional<std::uint32_t> stream;
	std::optional<std::string> expected; // AGs
	std::optional<FileGroup> group;
	bool checked = false;
	std::uint64_t extents = 0;		  // with data
	std::optional<std::uint64_t> max_extents; // where there are more
	std::vector<StrayExtent> strays;
	std::map<std::uint32_t, ws::Extent> held; // AG, first extent there
	std::vector<SharedAg> shared;

	[[nodiscard]] bool failed() const noexcept
	{
		return max_extents || !strays.empty() || !shared.empty();
	}
};

// Fills in every file's @shared. Returns how many groups there are.
std::size_t find_shared(std::vector<FileResult> &files);

// One line for each thing that is wrong.
void write_failures(const Context &context, const FileResult &file);
Json result_json(const FileResult &file);

} // namespace wsctl
