// SPDX-License-Identifier: GPL-2.0
// GETFSMAP's answers: however wrong, there is an end.
#include <ws/fsmap.h>

#include <sys/ioctl.h>

#include <linux/fsmap.h>

#include <ws/error.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::size_t argument = fsmap_sizeof(512);
	FuzzKernel kernel(text_of(data, size), argument, offsetof(fsmap_head, fmh_entries));
	const ws::Host host{.kernel = kernel};
	std::uint64_t seen = 0;

	try {
		ws::walk_fsmap(host, 0, "f", [&](const ws::Mapping &) { seen++; });
	} catch (const ws::Error &) {
	}
	require(seen <= 512 * (size + 1));
	return 0;
}
