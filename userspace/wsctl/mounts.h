// SPDX-License-Identifier: GPL-2.0
// The mounts that info and streams tell about.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ws/error.h>
#include <ws/mount.h>
#include <ws/mountinfo.h>
#include <ws/sysfs.h>

namespace wsctl
{

struct MountInfo {
	ws::MountEntry entry;
	ws::Mount mount;
	std::optional<ws::DeviceState> state; // on wsfs
};

// The mount that @path is on. Throws ws::Error.
MountInfo mount_of(const ws::Host &host, const std::string &path);
// That of @path, or all wsfs mounts where it is empty.
std::vector<MountInfo> find_mounts(const ws::Host &host, const std::string &path,
				   const std::function<void(const ws::Error &)> &failed);

} // namespace wsctl
