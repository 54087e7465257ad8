// SPDX-License-Identifier: GPL-2.0
// AG sets as sysfs and fdinfo have them.
#include <ws/ag_set.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	auto set = ws::AgSet::parse(text_of(data, size));

	if (!set)
		return 0;
	// What was read can be written, and is read as the same again.
	require(ws::AgSet::parse(set->str()) == set);
	for (const ws::AgSet::Range &range : set->ranges()) {
		require(range.first <= range.last);
		require(set->contains(range.first) && set->contains(range.last));
	}
	set->add(static_cast<std::uint32_t>(size));
	require(set->contains(static_cast<std::uint32_t>(size)));
	require(ws::AgSet::parse(set->str()) == set);
	return 0;
}
