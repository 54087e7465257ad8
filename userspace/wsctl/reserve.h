// SPDX-License-Identifier: GPL-2.0
// Several streams at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ws/kernel.h>
#include <ws/stream.h>

namespace wsctl
{

// @count streams of the device that @path is placed on, or none: throws
// ws::Error, which says how many there were.
std::vector<ws::Stream> reserve_streams(const ws::Host &host, const std::string &path,
					std::size_t count);

} // namespace wsctl
