// SPDX-License-Identifier: GPL-2.0
// One struct of options and one function for each command. Each returns the
// exit status; errors about one of several files are reported on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "operands.h"

namespace wsctl
{

struct InfoOptions {
	bool json = false;
	bool ags = false; // a line for each AG
	std::string path; // empty: every wsfs mount
};
int info(const Context &context, const InfoOptions &options);

struct RunOptions {
	bool json = false;
	bool exec = false;
	unsigned streams = 1;
	std::string hold; // what wsfs-holdd holds, in place of streams and path
	std::string path;
	std::vector<std::string> command;
};
int run(const Context &context, const RunOptions &options);

struct SetOptions {
	bool json = false;
	bool verbose = false;
	std::optional<unsigned> slot;
	std::optional<int> fd;
	std::string held; // NAME or NAME:SLOT of wsfs-holdd
	FileOperands operands;
};
int set(const Context &context, const SetOptions &options);

struct ClearOptions {
	bool json = false;
	FileOperands operands;
};
int clear(const Context &context, const ClearOptions &options);

struct GetOptions {
	bool json = false;
	bool carrying = false;	// leave out files without a stream
	bool directory = false; // of directories, themselves alone
	FileOperands operands;
};
int get(const Context &context, const GetOptions &options);

struct StreamsOptions {
	bool json = false;
	bool all = false;   // those that nobody holds too
	bool watch = false; // until interrupted
	double interval = 1;
	std::optional<unsigned> count; // of looks, with watch
	std::string path;	       // empty: every wsfs mount
};
int streams(const Context &context, const StreamsOptions &options);

struct MapOptions {
	bool json = false;
	bool by_operand = false; // a row for each operand, not for each stream
	std::string svg;	 // files to write, empty for none
	std::string png;
	std::vector<std::string> files;
};
int map(const Context &context, const MapOptions &options);

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
	std::optional<std::uint64_t> spread;   // what numbers of files may differ by
	std::string junit;		       // file to write, empty for none
	std::vector<std::string> file_streams; // FILE=ID
	std::vector<std::vector<std::string>> groups;
};
int check(const Context &context, const CheckOptions &options);

} // namespace wsctl
