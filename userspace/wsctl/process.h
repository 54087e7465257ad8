// SPDX-License-Identifier: GPL-2.0
// A child process that gets our signals.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace wsctl
{

struct ChildPlan {
	std::vector<std::string> command;
	std::vector<int> keep_open; // close-on-exec is cleared, in the child only
	std::vector<std::pair<std::string, std::string>> environment;
	std::string directory = {}; // to work in; empty: ours
	int output = -1;	    // both output streams go there, and input is empty; -1: as ours
	bool ends_with_us = false;  // SIGTERM for the child where we are killed
};

// How the child ended: its exit status, or 128 and the signal. Throws
// ws::Error where it could not be started.
struct ChildEnd {
	int status = 0;
	int signal = 0;
	int asked = 0; // the last signal that asked both to end, or 0
};

// Runs the command and waits. Signals that ask to end, and SIGUSR1 and
// SIGUSR2, go on to the child, unless the terminal sent them to both of us.
// @tick is called about once a second meanwhile; what it throws ends the child.
ChildEnd run_child(const ChildPlan &plan, const std::function<void()> &tick = {});

// Becomes the command. Returns only by ws::Error, where that failed.
[[noreturn]] void become_command(const ChildPlan &plan);

} // namespace wsctl
