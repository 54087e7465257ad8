// SPDX-License-Identifier: GPL-2.0
// A limit of bytes a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wsctl
{

// "100M", "64k", "1GiB", "4096": as fio has them, in powers of 1024; never 0.
std::optional<std::uint64_t> parse_rate(std::string_view text);
// Seconds to wait after @bytes in @elapsed seconds; 0 where @rate is 0.
double pause_for(std::uint64_t rate, std::uint64_t bytes, double elapsed) noexcept;

} // namespace wsctl
