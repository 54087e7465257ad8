// SPDX-License-Identifier: GPL-2.0
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include <ws/kernel.h>

#include "app.h"
#include "context.h"

int main(int argc, char **argv)
{
	try {
		ws::LinuxKernel kernel;
		const char *no_colour = std::getenv("NO_COLOR");
		const bool terminal = isatty(STDOUT_FILENO) == 1 && (!no_colour || !*no_colour);
		const std::vector<std::string> arguments(argv + 1, argv + argc);
		const int status = wsctl::run_app(arguments, ws::Host{.kernel = kernel},
						  {.out = std::cout,
						   .err = std::cerr,
						   .terminal = terminal,
						   .out_terminal = isatty(STDOUT_FILENO) == 1,
						   .err_terminal = isatty(STDERR_FILENO) == 1});

		std::cout.flush();
		if (!std::cout) {
			std::cerr << "wsctl: standard output: could not be written\n"
				     "wsctl: hint: is the disk full?\n";
			return wsctl::exit_usage;
		}
		return status;
	} catch (const std::exception &error) {
		std::cerr << "wsctl: " << error.what() << '\n';
		return wsctl::exit_usage;
	}
}
