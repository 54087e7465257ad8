// SPDX-License-Identifier: GPL-2.0
// The geometry that the kernel tells, of wsfs or of XFS.
#include <ws/filesystem.h>

#include <fcntl.h>

#include <ws/error.h>
#include <ws/inode_place.h>
#include <ws/unique_fd.h>
#include <ws/xfs_features.h>

#include "fuzz.hpp"

namespace
{

// The AG in an inode number, by that geometry.
void place_of_inode(std::string_view text)
{
	static const ws::UniqueFd file(open("/dev/null", O_PATH | O_CLOEXEC));
	FuzzKernel kernel(text, 0, 0);

	ws::ag_of_inode({.kernel = kernel}, file.get(), "f");
	ws::read_xfs_features({.kernel = kernel}, file.get());
}

} // namespace

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
	place_of_inode(text_of(data, size));
	return 0;
}
