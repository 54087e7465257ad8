// SPDX-License-Identifier: GPL-2.0
#include "fake_xfs.h"

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
	geom->rgcount = kernel.rt_groups;
	geom->rgextents = 8192;
	return 0;
}
