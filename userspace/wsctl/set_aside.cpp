// SPDX-License-Identifier: GPL-2.0
#include "set_aside.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ws/parse.h>

namespace wsctl
{

namespace
{

// The value of a mount option, 0 where it is not given.
std::uint32_t value_of(std::string_view options, std::string_view name)
{
	while (!options.empty()) {
		const std::string_view option = options.substr(0, options.find(','));

		options.remove_prefix(std::min(option.size() + 1, options.size()));
		if (option.starts_with(name) && option.substr(name.size()).starts_with('='))
			return ws::parse_id(option.substr(name.size() + 1)).value_or(0);
	}
	return 0;
}

// Those that choose stream @index of @streams, as the kernel deals them out.
std::vector<std::string_view> hints_of(std::uint32_t index, std::uint32_t streams)
{
	constexpr std::array<std::string_view, 4> names = {"short", "medium", "long", "extreme"};
	std::vector<std::string_view> found;

	for (std::uint32_t hint = 0; hint < names.size(); hint++) {
		if (std::size_t{hint} * streams / names.size() == index)
			found.push_back(names.at(hint));
	}
	return found;
}

} // namespace

std::string_view SetAside::word() const noexcept
{
	return number == 0 ? "hints" : "numbered";
}

std::string SetAside::text() const
{
	return number == 0 ? fmt::format("hints: {}", fmt::join(hints, ", "))
			   : fmt::format("number {}", number);
}

std::optional<SetAside> set_aside(std::string_view options, std::size_t streams, std::uint32_t id)
{
	const std::uint32_t hints = value_of(options, "hints");
	const std::uint32_t numbered = value_of(options, "numbered");
	// The last ids are the numbered ones, those before them are for hints.
	const std::size_t free = streams - std::min(streams, std::size_t{hints} + numbered);

	if (id < free || id >= streams)
		return std::nullopt;
	const auto index = static_cast<std::uint32_t>(id - free);
	if (index < hints)
		return SetAside{.hints = hints_of(index, hints)};
	return SetAside{.hints = {}, .number = index - hints + 1};
}

Json set_aside_json(const std::optional<SetAside> &aside)
{
	Json object = Json::object();

	if (!aside)
		return {};
	object["hints"] = aside->hints;
	object["number"] = aside->number == 0 ? Json() : Json(aside->number);
	return object;
}

} // namespace wsctl
