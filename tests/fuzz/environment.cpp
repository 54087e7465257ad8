// SPDX-License-Identifier: GPL-2.0
// WSFS_STREAM_FDS, which anybody may have set, and what a service manager tells
// wsfs-holdd of its descriptors.
#include <ws/environment.h>

#include <string>

#include <hold/systemd.h>
#include <ws/error.h>

#include "fuzz.hpp"

namespace
{

// "PID\nCOUNT\nNAMES"
void listed(std::string_view text)
{
	constexpr pid_t self = 7;
	const auto first = std::min(text.find('\n'), text.size());
	const auto second = std::min(text.find('\n', first + 1), text.size());
	const auto part = [&](std::size_t begin, std::size_t end) {
		return begin < end ? std::string(text.substr(begin, end - begin)) : std::string();
	};
	const auto names = hold::listed_names(part(0, first), part(first + 1, second),
					      part(second + 1, text.size()), self);

	require(names.size() <= 65536);
	for (const std::string &name : names)
		require(name.find(':') == std::string::npos);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	setenv(ws::env_stream_fds, std::string(text_of(data, size)).c_str(), 1);
	for (unsigned slot = 0; slot < 4; slot++) {
		try {
			require(ws::inherited_stream(slot) >= 0);
		} catch (const ws::Error &error) {
			require(!error.advice().empty());
		}
	}
	listed(text_of(data, size));
	return 0;
}
