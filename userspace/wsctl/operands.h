// SPDX-License-Identifier: GPL-2.0
// The files that set, clear and get are to work on, however they are named.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ws/error.h>

namespace wsctl
{

struct FileOperands {
	bool recursive = false;		// the files below directories
	bool null = false;		// names in the list end with NUL bytes
	std::vector<std::string> files; // or directories
	std::vector<std::string> globs; // patterns of files or directories
	std::vector<int> fds;		// descriptors that are open here
	std::string list;		// file with names, "-" for standard input

	[[nodiscard]] bool empty() const noexcept
	{
		return files.empty() && globs.empty() && fds.empty() && list.empty();
	}
};

struct NamedFile {
	std::string path;
	bool found = false;  // in a tree, and may have vanished since
	double fraction = 0; // how much is done before it; 0 where that is not known
};

// Calls @visit with each file, in order and in bounded memory, and @visit_fd with
// each descriptor. What cannot be found goes to @failed.
void each_file(const FileOperands &operands, const std::function<void(const NamedFile &)> &visit,
	       const std::function<void(int fd)> &visit_fd,
	       const std::function<void(const ws::Error &)> &failed);
// The same for who needs nothing but the path.
void each_file(const FileOperands &operands, const std::function<void(const std::string &)> &visit,
	       const std::function<void(int fd)> &visit_fd,
	       const std::function<void(const ws::Error &)> &failed);

// "FILE=ID": a file and the id of a stream.
struct FileStreamOperand {
	std::string path;
	std::uint32_t id = 0;
};
// Throws ws::Error.
FileStreamOperand parse_file_stream(const std::string &text);

} // namespace wsctl
