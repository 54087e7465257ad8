// SPDX-License-Identifier: GPL-2.0
#include "held.h"

#include <fmt/format.h>

#include <ws/parse.h>

namespace wsctl
{

void check_hold_name(const std::string &name)
{
	if (!hold::is_name(name))
		throw ws::Error(name, "is no name for a reservation",
				fmt::format("use up to {} letters, digits, '.', '_' and '-', the "
					    "first a letter or digit",
					    hold::max_name));
}

hold::Result take_held(const std::string &name)
{
	check_hold_name(name);
	return hold::ask(hold::socket_path(""), {.verb = hold::Verb::take, .name = name});
}

HeldSlot parse_held_slot(const std::string &text)
{
	const auto colon = text.find(':');
	HeldSlot held{.name = text.substr(0, colon)};

	check_hold_name(held.name);
	if (colon == std::string::npos)
		return held;
	const auto number = ws::parse_number(text.substr(colon + 1));
	if (!number)
		throw ws::Error(text, "is no NAME:SLOT", "slots are numbers from 0 on");
	held.slot = *number;
	return held;
}

ws::UniqueFd take_held_stream(const std::string &text)
{
	const auto [name, slot] = parse_held_slot(text);
	hold::Result result = take_held(name);

	if (slot >= result.streams.size())
		throw ws::Error(
			text,
			fmt::format("has {} streams, so no slot {}", result.streams.size(), slot),
			"slots count from 0; hold more with: wsctl hold -n N");
	return std::move(result.streams[slot]);
}

} // namespace wsctl
