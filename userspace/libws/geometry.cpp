// SPDX-License-Identifier: GPL-2.0
#include <ws/geometry.h>

namespace ws
{

std::optional<std::uint32_t> Groups::group_of(std::uint64_t sector) const noexcept
{
	if (sectors == 0 || sector / sectors >= count)
		return std::nullopt;
	return static_cast<std::uint32_t>(sector / sectors);
}

std::uint64_t Groups::offset_of(std::uint64_t sector) const noexcept
{
	return sectors == 0 ? 0 : sector % sectors;
}

} // namespace ws
