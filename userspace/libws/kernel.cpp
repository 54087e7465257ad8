// SPDX-License-Identifier: GPL-2.0
#include <ws/kernel.h>

#include <cerrno>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace ws
{

int LinuxKernel::ioctl(int fd, unsigned long request, void *argument) noexcept
{
	const int result = ::ioctl(fd, request, argument);

	return result < 0 ? -errno : result;
}

std::optional<std::uint64_t> LinuxKernel::mount_id(int fd) noexcept
{
	struct statx stx = {};

	if (::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) != 0 ||
	    !(stx.stx_mask & STATX_MNT_ID))
		return std::nullopt;
	return stx.stx_mnt_id;
}

} // namespace ws
