// SPDX-License-Identifier: GPL-2.0
// From a command line to a command.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <ws/kernel.h>

namespace wsctl
{

struct Streams {
	std::ostream &out;
	std::ostream &err;
	bool terminal;		   // colours make sense on out
	bool out_terminal = false; // out is a terminal, coloured or not
	bool err_terminal = false;
};

// @arguments without the program's name. Returns the exit status.
int run_app(const std::vector<std::string> &arguments, const ws::Host &host,
	    const Streams &streams);

} // namespace wsctl
