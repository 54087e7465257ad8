// SPDX-License-Identifier: GPL-2.0
// What every command gets: where to look, and where to write.
#pragma once

#include <ostream>
#include <string>

#include <ws/error.h>
#include <ws/kernel.h>

namespace wsctl
{

constexpr int exit_ok = 0;
constexpr int exit_failed = 1; // check: something is not where it should be
constexpr int exit_usage = 2;
constexpr int exit_check_error = 2;
constexpr int exit_run_error = 125; // as env(1) and timeout(1) have it
constexpr int exit_run_cannot_exec = 126;
constexpr int exit_run_not_found = 127;

struct Context {
	ws::Host host;
	std::ostream &out;
	std::ostream &err;
	bool colour = false;
	std::string command;
	bool terminal = false; // out is one
	bool progress = false; // err is one

	// Writes what failed, on which path, why, and what to do.
	void report(const ws::Error &error) const;
	// @text in red where colours are wanted.
	[[nodiscard]] std::string alarm(const std::string &text) const;
};

} // namespace wsctl
