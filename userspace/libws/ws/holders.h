// SPDX-License-Identifier: GPL-2.0
// Which processes hold streams, from /proc/PID/fdinfo.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <ws/kernel.h>
#include <ws/stream.h>

namespace ws
{

struct Holder {
	pid_t pid = 0;
	std::string command;  // arguments with blanks between, or the short name
	std::vector<int> fds; // ascending
	StreamFdInfo stream;
};

struct Holders {
	std::vector<Holder> list;     // by pid, then stream
	std::uint64_t unreadable = 0; // processes that we may not look into
};

// What the kernel wrote into /proc/PID/cmdline: words that end with NUL.
std::string command_text(std::string_view cmdline);
// Processes that come and go meanwhile are passed over.
Holders find_holders(const Host &host);

} // namespace ws
