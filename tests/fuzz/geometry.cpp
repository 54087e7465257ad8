// SPDX-License-Identifier: GPL-2.0
// The geometry that the kernel tells, of wsfs or of XFS.
#include <ws/filesystem.h>

#include <ws/error.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	FuzzKernel kernel(text_of(data, size), 0, 0);
	const ws::Host host{.kernel = kernel};

	try {
		const auto filesystem = ws::Filesystem::of(host, 0, "f");
		const ws::Groups &ags = filesystem.geometry.ags;

		for (const std::uint64_t sector :
		     {std::uint64_t{0}, std::uint64_t{size}, UINT64_MAX}) {
			const auto group = ags.group_of(sector);

			if (group)
				require(*group < ags.count);
			require(ags.offset_of(sector) <= sector);
		}
	} catch (const ws::Error &) {
	}
	return 0;
}
