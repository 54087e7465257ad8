// SPDX-License-Identifier: GPL-2.0
// One struct of options and one function for each command. Each returns the
// exit status; errors about one of several files are reported on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "context.h"

namespace wsctl
{

struct InfoOptions {
	bool json = false;
	std::string path; // empty: every wsfs mount
};
int info(const Context &context, const InfoOptions &options);

struct RunOptions {
	bool json = false;
	unsigned streams = 1;
	std::string path;
	std::vector<std::string> command;
};
int run(const Context &context, const RunOptions &options);

struct SetOptions {
	bool json = false;
	bool verbose = false;
	std::optional<unsigned> slot;
	std::optional<int> fd;
	std::vector<std::string> files;
};
int set(const Context &context, const SetOptions &options);

struct ClearOptions {
	bool json = false;
	std::vector<std::string> files;
};
int clear(const Context &context, const ClearOptions &options);

struct BmapOptions {
	bool json = false;
	bool legend = false;
	std::vector<std::string> files;
};
int bmap(const Context &context, const BmapOptions &options);

struct CheckOptions {
	bool json = false;
	bool quiet = false;
	bool isolated = false;
	std::optional<std::uint32_t> within;
	std::optional<std::uint64_t> max_extents;
	std::vector<std::string> file_streams; // FILE=ID
	std::vector<std::vector<std::string>> groups;
};
int check(const Context &context, const CheckOptions &options);

} // namespace wsctl
