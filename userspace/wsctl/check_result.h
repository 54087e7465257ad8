// SPDX-License-Identifier: GPL-2.0
// What wsctl check found out about each file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <ws/ag_set.h>
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

// Whose turns over AGs are counted together.
struct SpreadKey {
	dev_t device = 0;
	FileGroup group;
	auto operator<=>(const SpreadKey &) const = default;
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
	std::uint64_t stray_count = 0;
	std::vector<StrayExtent> strays;	  // the first of them
	std::map<std::uint32_t, ws::Extent> held; // AG, first extent there
	std::optional<std::uint32_t> begins;	  // AG of the first extent
	std::vector<SharedAg> shared;
	// With --spread: the group, and the AGs that it may use.
	SpreadKey spread_key;
	std::string spread_name;
	ws::AgSet spread_set;

	[[nodiscard]] bool failed() const noexcept
	{
		return max_extents || !strays.empty() || !shared.empty();
	}
};

// Who holds data in which AG: as much memory as there are AGs and groups, not
// files.
class Survey
{
public:
	// Before any call of find_shared().
	void add(const FileResult &file);
	// Fills in the file's @shared.
	void find_shared(FileResult &file) const;
	[[nodiscard]] std::size_t groups() const noexcept { return groups_.size(); }

private:
	using Place = std::pair<dev_t, std::uint32_t>;

	std::map<Place, std::map<FileGroup, std::string>> holders_; // the first file's path
	std::set<FileGroup> groups_;
};

// What is wrong, a line each, without the path.
std::vector<std::string> failure_texts(const FileResult &file);
void write_failures(const Context &context, const FileResult &file);
Json result_json(const FileResult &file);

} // namespace wsctl
