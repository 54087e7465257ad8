// SPDX-License-Identifier: GPL-2.0
#include <ws/xfs_geometry.h>

#include <algorithm>

#include <xfs/xfs.h>

namespace ws
{

int read_xfs_geometry(const Host &host, int fd, Geometry &geometry) noexcept
{
	struct xfs_fsop_geom geom = {};
	int result = host.kernel.ioctl(fd, XFS_IOC_FSGEOMETRY, &geom);

	if (result < 0)
		return result;
	const std::uint64_t block_sectors = geom.blocksize / sector_size;

	geometry.block_size = geom.blocksize;
	geometry.ag_blocks = geom.agblocks;
	geometry.ags = {.count = geom.agcount, .sectors = geom.agblocks * block_sectors};
	geometry.stripe_unit = geom.sunit * block_sectors;
	geometry.stripe_width = geom.swidth * block_sectors;
	geometry.rmap = (geom.flags & XFS_FSOP_GEOM_FLAGS_RMAPBT) != 0;
	geometry.rt_groups = {};
#ifdef XFS_FSOP_GEOM_FLAGS_METADIR
	if (geom.rgcount > 0) {
		geometry.rt_groups = {
			.count = geom.rgcount,
			.sectors = std::uint64_t{geom.rgextents} * geom.rtextsize * block_sectors,
		};
	}
#endif
	return 0;
}

std::vector<AgUsage> read_ag_usage(const Host &host, int fd, std::uint32_t count)
{
	std::vector<AgUsage> usage;

	for (std::uint32_t agno = 0; agno < count; agno++) {
		struct xfs_ag_geometry geom = {};

		geom.ag_number = agno;
		if (host.kernel.ioctl(fd, XFS_IOC_AG_GEOMETRY, &geom) < 0)
			return {};
		usage.push_back(
			{.blocks = geom.ag_length,
			 .free_blocks = geom.ag_freeblks,
			 .inodes = geom.ag_icount - std::min(geom.ag_ifree, geom.ag_icount)});
	}
	return usage;
}

} // namespace ws
