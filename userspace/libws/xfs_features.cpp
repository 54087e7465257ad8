// SPDX-License-Identifier: GPL-2.0
#include <ws/xfs_features.h>

#include <sys/types.h>
#include <xfs/xfs.h>

namespace ws
{

std::optional<XfsFeatures> read_xfs_features(const Host &host, int fd) noexcept
{
	struct xfs_fsop_geom answer = {};

	if (host.kernel.ioctl(fd, XFS_IOC_FSGEOMETRY, &answer) < 0)
		return std::nullopt;
	return XfsFeatures{
		.crc = (answer.flags & XFS_FSOP_GEOM_FLAGS_V5SB) != 0,
		.reflink = (answer.flags & XFS_FSOP_GEOM_FLAGS_REFLINK) != 0,
		.rmapbt = (answer.flags & XFS_FSOP_GEOM_FLAGS_RMAPBT) != 0,
		.realtime = answer.rtblocks != 0,
		.agcount = answer.agcount,
	};
}

} // namespace ws
