// SPDX-License-Identifier: GPL-2.0
// /proc/self/mountinfo, with names that anybody may have chosen.
#include <ws/mountinfo.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const auto text = text_of(data, size);
	const auto entry = ws::parse_mount_line(text);

	if (entry)
		require(entry->mount_point.size() <= text.size());
	require(ws::unescape_octal(text).size() <= text.size());
	return 0;
}
