// SPDX-License-Identifier: GPL-2.0
// Numbers, strictly, and the sizes that are shown.
#include <ws/parse.h>

#include "fuzz.hpp"
#include "text.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const auto text = text_of(data, size);
	const auto number = ws::parse_number(text);
	std::uint64_t bits = 0;

	if (number) {
		require(ws::parse_number(std::to_string(*number)) == number);
		require(text.find_first_not_of("0123456789") == std::string_view::npos);
	}
	if (const auto id = ws::parse_id(text))
		require(number == *id);
	std::memcpy(&bits, data, std::min(size, sizeof(bits)));
	require(!wsctl::short_size(bits).empty());
	require(!wsctl::binary_size(bits).empty());
	return 0;
}
