// SPDX-License-Identifier: GPL-2.0
#include <ws/fsmap.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <sys/ioctl.h>

#include <linux/fsmap.h>
#include <sys/sysmacros.h>

#include <ws/error.h>

namespace ws
{

namespace
{

constexpr std::uint32_t batch = 512;

Mapping::Owner owner_of(const fsmap &raw)
{
	if (!(raw.fmr_flags & FMR_OF_SPECIAL_OWNER))
		return Mapping::Owner::inode;
	if (raw.fmr_owner == FMR_OWN_FREE)
		return Mapping::Owner::free;
	return raw.fmr_owner == FMR_OWN_UNKNOWN ? Mapping::Owner::unknown
						: Mapping::Owner::metadata;
}

// The kernel's 32-bit form of a device number.
dev_t device_of(std::uint32_t encoded)
{
	return makedev((encoded & 0xfff00U) >> 8U,
		       (encoded & 0xffU) | ((encoded >> 12U) & 0xfff00U));
}

Mapping from_raw(const fsmap &raw)
{
	Mapping mapping{.device = device_of(raw.fmr_device),
			.sector = raw.fmr_physical / sector_size,
			.length = raw.fmr_length / sector_size,
			.owner = owner_of(raw)};

	if (mapping.owner == Mapping::Owner::inode) {
		mapping.inode = raw.fmr_owner;
		mapping.offset = raw.fmr_offset / sector_size;
	}
	mapping.unwritten = (raw.fmr_flags & FMR_OF_PREALLOC) != 0;
	mapping.shared = (raw.fmr_flags & FMR_OF_SHARED) != 0;
	return mapping;
}

} // namespace

void walk_fsmap(const Host &host, int fd, const std::string &path,
		const std::function<void(const Mapping &)> &visit)
{
	std::vector<std::uint64_t> memory(fsmap_sizeof(batch) / sizeof(std::uint64_t));
	auto *head = reinterpret_cast<fsmap_head *>(memory.data());
	fsmap &low = head->fmh_keys[0];
	fsmap &high = head->fmh_keys[1];
	bool last = false;

	head->fmh_count = batch;
	high = {.fmr_device = std::numeric_limits<std::uint32_t>::max(),
		.fmr_flags = std::numeric_limits<std::uint32_t>::max(),
		.fmr_physical = std::numeric_limits<std::uint64_t>::max(),
		.fmr_owner = std::numeric_limits<std::uint64_t>::max(),
		.fmr_offset = std::numeric_limits<std::uint64_t>::max(),
		.fmr_length = 0,
		.fmr_reserved = {}};
	while (!last) {
		const int result = host.kernel.ioctl(fd, FS_IOC_GETFSMAP, head);
		if (result < 0)
			throw Error(path, "FS_IOC_GETFSMAP", -result);
		const std::uint32_t count = std::min(head->fmh_entries, batch);
		if (count == 0)
			break;
		for (std::uint32_t i = 0; i < count; i++)
			visit(from_raw(head->fmh_recs[i]));
		const fsmap &end = head->fmh_recs[count - 1];
		// A kernel that goes back would have us here for ever.
		last = (end.fmr_flags & FMR_OF_LAST) != 0 ||
		       (end.fmr_device == low.fmr_device && end.fmr_physical < low.fmr_physical);
		low = end;
	}
}

} // namespace ws
