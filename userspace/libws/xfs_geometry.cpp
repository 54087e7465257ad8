// SPDX-License-Identifier: GPL-2.0
#include <ws/xfs_geometry.h>

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

} // namespace ws
