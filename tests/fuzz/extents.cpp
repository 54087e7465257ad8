// SPDX-License-Identifier: GPL-2.0
// FIEMAP's answers: however wrong, there is an end, and rows are in order.
#include <ws/extents.h>

#include <linux/fiemap.h>
#include <linux/fs.h>

#include <ws/error.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	constexpr std::size_t argument = sizeof(fiemap) + 512 * sizeof(fiemap_extent);
	// The number of extents comes from the input, too.
	FuzzKernel kernel(text_of(data, size), argument, offsetof(fiemap, fm_flags));
	const ws::Host host{.kernel = kernel};
	const ws::FileShape shape{.size_end = 4096, .end = size % 2 ? 4096 : UINT64_MAX};
	std::uint64_t index = 0;

	try {
		ws::walk_extents(host, 0, "f", shape, [&](const ws::Extent &extent) {
			require(extent.index == index++);
			require(extent.length > 0);
		});
	} catch (const ws::Error &) {
	}
	return 0;
}
