// SPDX-License-Identifier: GPL-2.0
// Streams that wsfs-holdd holds, for the commands that use them.
#pragma once

#include <cstdint>
#include <string>

#include <hold/client.h>

namespace wsctl
{

// Throws ws::Error where @name cannot be a name.
void check_hold_name(const std::string &name);
// All streams of a reservation, by slot. Throws ws::Error.
hold::Result take_held(const std::string &name);
// "NAME" or "NAME:SLOT"; slot 0 where none is given.
struct HeldSlot {
	std::string name;
	std::uint64_t slot = 0;
};
// Throws ws::Error.
HeldSlot parse_held_slot(const std::string &text);
// The stream of such a text. Throws ws::Error.
ws::UniqueFd take_held_stream(const std::string &text);

} // namespace wsctl
