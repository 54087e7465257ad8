// SPDX-License-Identifier: GPL-2.0
// How "wsctl run" tells a command which descriptors are its streams.
#pragma once

#include <string>
#include <vector>

namespace ws
{

// The number of streams: "3".
constexpr const char *env_streams = "WSFS_STREAMS";
// Their descriptors, by slot: "5,6,7".
constexpr const char *env_stream_fds = "WSFS_STREAM_FDS";
// Their ids as in sysfs, by slot: "0,2,3". Absent where the kernel tells none.
constexpr const char *env_stream_ids = "WSFS_STREAM_IDS";

// The descriptor in @slot of the surrounding "wsctl run". Throws Error.
int inherited_stream(unsigned slot);

// "5,6,7"
std::string join_numbers(const std::vector<int> &numbers);

} // namespace ws
