// SPDX-License-Identifier: GPL-2.0
#include "fake_xfs.h"

#include <cerrno>

#include <xfs/xfs.h>

#include "fake_host.h"

unsigned long fake_xfs_geometry_request()
{
	return XFS_IOC_FSGEOMETRY;
}

int fake_xfs_geometry(const FakeKernel &kernel, void *argument)
{
	auto *geom = static_cast<xfs_fsop_geom *>(argument);

	*geom = {};
	geom->blocksize = fake_block;
	geom->agblocks = fake_ag_blocks;
	geom->agcount = kernel.ag_count;
	geom->sunit = kernel.stripe_unit;
	geom->swidth = kernel.stripe_width;
	geom->rtextsize = 1;
	if (kernel.modern)
		geom->flags = XFS_FSOP_GEOM_FLAGS_V5SB | XFS_FSOP_GEOM_FLAGS_REFLINK |
			      XFS_FSOP_GEOM_FLAGS_RMAPBT;
	geom->rgcount = kernel.rt_groups;
	geom->rgextents = 8192;
	return 0;
}

unsigned long fake_ag_geometry_request()
{
	return XFS_IOC_AG_GEOMETRY;
}

int fake_ag_geometry(const FakeKernel &kernel, void *argument)
{
	auto *geom = static_cast<xfs_ag_geometry *>(argument);

	if (!kernel.tells_usage)
		return -ENOTTY;
	if (geom->ag_number >= kernel.ag_count)
		return -EINVAL;
	geom->ag_length = fake_ag_blocks;
	geom->ag_freeblks = fake_ag_blocks - std::uint64_t{100} * geom->ag_number;
	geom->ag_icount = 64 + geom->ag_number;
	geom->ag_ifree = 60;
	return 0;
}
