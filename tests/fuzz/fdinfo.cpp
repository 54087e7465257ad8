// SPDX-License-Identifier: GPL-2.0
// /proc/PID/fdinfo and cmdline of whatever process.
#include <ws/holders.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const auto info = ws::parse_stream_fdinfo(text_of(data, size));

	if (info)
		require(ws::AgSet::parse(info->ag_set.str()) == info->ag_set);
	require(ws::command_text(text_of(data, size)).find('\0') == std::string::npos);
	return 0;
}
