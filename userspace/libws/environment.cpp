// SPDX-License-Identifier: GPL-2.0
#include <ws/environment.h>

#include <cstdlib>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ws/error.h>
#include <ws/parse.h>

namespace ws
{

int inherited_stream(unsigned slot)
{
	const char *value = std::getenv(env_stream_fds);

	if (!value)
		throw Error(env_stream_fds, "is not set, so there is no stream slot to take",
			    "start the command with: wsctl run -n N MOUNTPOINT -- COMMAND");
	std::string_view rest = value;
	for (unsigned i = 0;; i++) {
		const auto comma = rest.find(',');
		const auto fd =
			parse_number(rest.substr(0, comma), std::numeric_limits<int>::max());

		if (!fd)
			throw Error(env_stream_fds,
				    fmt::format("'{}' is not a list of descriptors", value),
				    "leave the variable as 'wsctl run' set it");
		if (i == slot)
			return static_cast<int>(*fd);
		if (comma == std::string_view::npos)
			throw Error(env_stream_fds,
				    fmt::format("has {} streams, so no slot {}", i + 1, slot),
				    "slots count from 0; reserve more with: wsctl run -n N");
		rest.remove_prefix(comma + 1);
	}
}

std::string join_numbers(const std::vector<int> &numbers)
{
	return fmt::format("{}", fmt::join(numbers, ","));
}

} // namespace ws
