// SPDX-License-Identifier: GPL-2.0
// Numbers and small files, read strictly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace ws
{

// All of @text has to be a decimal number up to @max.
std::optional<std::uint64_t>
parse_number(std::string_view text,
	     std::uint64_t max = std::numeric_limits<std::uint64_t>::max()) noexcept;

// The same for an id, which has 32 bits.
std::optional<std::uint32_t> parse_id(std::string_view text) noexcept;

// The whole of a small file, as procfs and sysfs have them. Throws Error.
std::string read_file(const std::filesystem::path &path);

// Without white space at either end.
std::string_view trim(std::string_view text) noexcept;

} // namespace ws
