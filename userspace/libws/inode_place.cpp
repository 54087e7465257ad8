// SPDX-License-Identifier: GPL-2.0
#include <ws/inode_place.h>

#include <bit>
#include <cerrno>

#include <sys/stat.h>
#include <xfs/xfs.h>

#include <ws/error.h>

namespace ws
{

std::optional<std::uint32_t> ag_of_inode(const Host &host, int fd, const std::string &path)
{
	struct xfs_fsop_geom geom = {};
	struct stat st = {};

	if (fstat(fd, &st) != 0)
		throw Error(path, "fstat", errno);
	if (host.kernel.ioctl(fd, XFS_IOC_FSGEOMETRY, &geom) < 0 || geom.inodesize == 0 ||
	    geom.blocksize < geom.inodesize || geom.agblocks == 0)
		return std::nullopt;
	// An inode number is that of the AG, of the block in it, and of the inode in that.
	const int shift = std::bit_width(geom.agblocks - 1) +
			  std::countr_zero(geom.blocksize / geom.inodesize);
	return static_cast<std::uint32_t>(st.st_ino >> static_cast<unsigned>(shift));
}

} // namespace ws
