// SPDX-License-Identifier: GPL-2.0
#include "rate.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include <ws/parse.h>

namespace wsctl
{

namespace
{

// The exponent of 1024, of "", "k", "MB", "GiB" and so on.
std::optional<unsigned> exponent_of(std::string_view unit) noexcept
{
	constexpr std::string_view units = "kmgtpe";
	const auto lower = [](char c) {
		return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
	};

	if (unit.empty() || unit == "B" || unit == "b")
		return 0;
	const auto found = units.find(lower(unit.front()));
	const std::string_view rest = unit.substr(1);
	const bool bytes = rest.size() == 1 && lower(rest[0]) == 'b';
	const bool binary = rest.size() == 2 && lower(rest[0]) == 'i' && lower(rest[1]) == 'b';

	if (found == std::string_view::npos || !(rest.empty() || bytes || binary))
		return std::nullopt;
	return static_cast<unsigned>(found) + 1;
}

} // namespace

std::optional<std::uint64_t> parse_rate(std::string_view text) noexcept
{
	constexpr unsigned bits = 10;
	const auto unit = std::min(text.find_first_not_of("0123456789"), text.size());
	const auto number = ws::parse_number(text.substr(0, unit));
	const auto exponent = exponent_of(text.substr(unit));

	if (!number || !exponent || *number == 0)
		return std::nullopt;
	const unsigned shift = *exponent * bits;
	if (*number > std::numeric_limits<std::uint64_t>::max() >> shift)
		return std::nullopt;
	return *number << shift;
}

double pause_for(std::uint64_t rate, std::uint64_t bytes, double elapsed) noexcept
{
	if (rate == 0)
		return 0;
	return std::max(0.0, static_cast<double>(bytes) / static_cast<double>(rate) - elapsed);
}

} // namespace wsctl
