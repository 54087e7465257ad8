// SPDX-License-Identifier: GPL-2.0
// /proc/self/mountinfo, see proc_pid_mountinfo(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ws/kernel.h>

namespace ws
{

struct MountEntry {
	std::uint64_t id = 0;
	std::string mount_point;
	std::string type;
	std::string source;
	std::string super_options;
};

// Octal escapes, as the kernel writes blanks and backslashes: "a\040b".
std::string unescape_octal(std::string_view text);
// Nothing where the line does not have the documented form.
std::optional<MountEntry> parse_mount_line(std::string_view line);
std::vector<MountEntry> read_mounts(const Host &host);

} // namespace ws
