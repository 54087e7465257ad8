// SPDX-License-Identifier: GPL-2.0
// Streams that wsfs-holdd holds, for the commands that use them.
#pragma once

#include <string>

#include <hold/client.h>

namespace wsctl
{

// Throws ws::Error where @name cannot be a name.
void check_hold_name(const std::string &name);
// All streams of a reservation, by slot. Throws ws::Error.
hold::Result take_held(const std::string &name);
// One of them: "NAME" or "NAME:SLOT". Throws ws::Error.
ws::UniqueFd take_held_stream(const std::string &text);

} // namespace wsctl
