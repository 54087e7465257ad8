// SPDX-License-Identifier: GPL-2.0
#include "name_list.h"

#include <cerrno>
#include <climits>

#include <fmt/format.h>

#include <ws/error.h>

namespace wsctl
{

std::optional<std::string> NameList::next()
{
	const char end = null_ ? '\0' : '\n';
	std::string name;

	for (;;) {
		const int c = in_.get();

		if (c == std::istream::traits_type::eof()) {
			if (in_.bad())
				throw ws::Error(source_, "read", errno);
			return name.empty() ? std::nullopt : std::optional(std::move(name));
		}
		if (static_cast<char>(c) == end) {
			if (name.empty())
				continue;
			number_++;
			return name;
		}
		if (c == '\0')
			throw ws::Error(source_,
					fmt::format("name {} has a NUL byte in it", number_ + 1),
					"names that end with NUL bytes need --null");
		// Longer than any path: no list of names, and no end of memory.
		if (name.size() >= PATH_MAX)
			throw ws::Error(source_,
					fmt::format("name {} has more than {} bytes", number_ + 1,
						    PATH_MAX),
					null_ ? "with --null names end with NUL bytes"
					      : "names end with newlines, or with NUL bytes "
						"under --null");
		name += static_cast<char>(c);
	}
}

} // namespace wsctl
