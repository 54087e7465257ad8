// SPDX-License-Identifier: GPL-2.0
// Who owns which part of the device, from GETFSMAP. Every XFS tells its free
// space; inodes are told where there is a reverse mapping (mkfs.xfs -m rmapbt=1).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <sys/types.h>

#include <ws/geometry.h>
#include <ws/kernel.h>

namespace ws
{

// In sectors of 512 bytes.
struct Mapping {
	enum class Owner { free, inode, metadata, unknown };

	dev_t device = 0; // of the data, log or realtime part
	std::uint64_t sector = 0;
	std::uint64_t length = 0;
	Owner owner = Owner::unknown;
	std::uint64_t inode = 0;  // with Owner::inode
	std::uint64_t offset = 0; // in the file, with Owner::inode
	bool unwritten = false;
	bool shared = false;
};

// Calls @visit for each mapping, in order and in bounded memory. @fd is any
// file of the filesystem. Takes CAP_SYS_ADMIN; throws Error.
void walk_fsmap(const Host &host, int fd, const std::string &path,
		const std::function<void(const Mapping &)> &visit);

} // namespace ws
