// SPDX-License-Identifier: GPL-2.0
// Command lines that somebody has begun to type, a word a line.
#include <sstream>
#include <string>
#include <vector>

#include "app.h"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	std::string_view text = text_of(data, size);
	std::vector<std::string> words{"__complete"};
	std::ostringstream out;
	FuzzKernel kernel("", 0, 0);

	for (;;) {
		const auto end = text.find('\n');

		words.emplace_back(text.substr(0, end));
		if (end == std::string_view::npos)
			break;
		text.remove_prefix(end + 1);
	}
	require(wsctl::run_app(words, {.kernel = kernel},
			       {.out = out, .err = out, .terminal = false}) == 0);

	// How to go on, and then what may stand there.
	std::istringstream lines(out.str());
	std::string line;
	require(!!std::getline(lines, line));
	require(line == "none" || line == "files" || line.starts_with("command "));
	while (std::getline(lines, line))
		require(!line.empty() && line.find('\0') == std::string::npos);
	return 0;
}
