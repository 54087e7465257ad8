// SPDX-License-Identifier: GPL-2.0
#include "rate.h"

#include <algorithm>

#include "fio_job.h"

namespace wsctl
{

std::optional<std::uint64_t> parse_rate(std::string_view text)
{
	const auto unit = text.find_first_not_of("0123456789");

	// Bytes, which sizes have no letter for.
	if (unit != std::string_view::npos &&
	    (text.substr(unit) == "b" || text.substr(unit) == "B"))
		text.remove_suffix(1);
	const auto size = parse_fio_size(text);
	return size && *size > 0 ? size : std::nullopt;
}

double pause_for(std::uint64_t rate, std::uint64_t bytes, double elapsed) noexcept
{
	if (rate == 0)
		return 0;
	return std::max(0.0, static_cast<double>(bytes) / static_cast<double>(rate) - elapsed);
}

} // namespace wsctl
