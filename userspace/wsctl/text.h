// SPDX-License-Identifier: GPL-2.0
// Names and numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wsctl
{

// A name on one line: control characters, backslashes and bytes that are not
// UTF-8 become \n, \t, \\ and \ooo.
std::string escape(std::string_view name);
bool is_utf8(std::string_view text);
// The bytes as hexadecimal digits.
std::string hex(std::string_view bytes);
// "64 MiB"; exact, so in the largest unit that leaves no rest.
std::string binary_size(std::uint64_t bytes);
// "1.5G", rounded down, in the units of df -h.
std::string short_size(std::uint64_t bytes);
// "1 file", "2 files"
std::string plural(std::uint64_t count, std::string_view noun, std::string_view ending = "s");

} // namespace wsctl
