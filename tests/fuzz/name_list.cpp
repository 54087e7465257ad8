// SPDX-License-Identifier: GPL-2.0
// The list of names that set, clear and get read from standard input.
#include "name_list.h"

#include <climits>
#include <sstream>

#include <ws/error.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string text(text_of(data, size));

	for (const bool null : {false, true}) {
		std::istringstream in(text);
		wsctl::NameList list(in, "list", null);

		try {
			while (const auto name = list.next()) {
				require(!name->empty() && name->size() <= PATH_MAX);
				require(name->find('\0') == std::string::npos);
				require(null || name->find('\n') == std::string::npos);
			}
		} catch (const ws::Error &) {
		}
	}
	return 0;
}
