// SPDX-License-Identifier: GPL-2.0
// WSFS_STREAM_FDS, which anybody may have set.
#include <ws/environment.h>

#include <string>

#include <ws/error.h>

#include "fuzz.hpp"

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
	return 0;
}
