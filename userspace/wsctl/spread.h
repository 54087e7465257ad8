// SPDX-License-Identifier: GPL-2.0
// Whether files take turns over the AGs that they may lie in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include <ws/ag_set.h>

#include "check_result.h"
#include "json.h"

namespace wsctl
{

// How the files of one group are spread.
struct Spread {
	std::string group; // "stream 1", "group 2", "files"
	std::string ag_set;
	std::uint64_t files = 0;
	std::uint32_t least_ag = 0;
	std::uint64_t least = 0; // files that begin there
	std::uint32_t most_ag = 0;
	std::uint64_t most = 0;
	bool ok = false;

	[[nodiscard]] std::string text(std::uint64_t tolerance) const;
	[[nodiscard]] Json json() const;
};

// Counts, for each group, the files that begin in each AG.
class SpreadCount
{
public:
	// A file of @group, which may use @set, begins in @agno.
	void add(const SpreadKey &key, const std::string &group, const ws::AgSet &set,
		 std::uint32_t agno);
	// Numbers of files may differ by @tolerance between AGs.
	[[nodiscard]] std::vector<Spread> judge(std::uint64_t tolerance) const;

private:
	struct Group {
		std::string name;
		ws::AgSet set;
		std::map<std::uint32_t, std::uint64_t> files; // by AG
	};

	std::map<SpreadKey, Group> groups_;
};

} // namespace wsctl
