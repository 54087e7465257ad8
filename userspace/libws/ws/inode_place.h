// SPDX-License-Identifier: GPL-2.0
// Where an inode lives; its first data goes there, unless somebody steers it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ws/kernel.h>

namespace ws
{

// The AG of a file's or directory's inode; nothing off XFS. Throws Error.
std::optional<std::uint32_t> ag_of_inode(const Host &host, int fd, const std::string &path);

} // namespace ws
