// SPDX-License-Identifier: GPL-2.0
// A child process that gets our signals.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace wsctl
{

struct ChildPlan {
	std::vector<std::string> command;
	std::vector<int> keep_open; // close-on-exec is cleared, in the child only
	std::vector<std::pair<std::string, std::string>> environment;
};

// How the child ended: its exit status, or 128 and the signal. Throws
// ws::Error where it could not be started.
struct ChildEnd {
	int status = 0;
	int signal = 0;
};

// Runs the command and waits. Signals that ask to end, and SIGUSR1 and
// SIGUSR2, go on to the child, unless the terminal sent them to both of us.
ChildEnd run_child(const ChildPlan &plan);

// Becomes the command. Returns only by ws::Error, where that failed.
[[noreturn]] void become_command(const ChildPlan &plan);

} // namespace wsctl
