// SPDX-License-Identifier: GPL-2.0
// Asks the broker.
#pragma once

#include <string>
#include <vector>

#include <ws/unique_fd.h>

#include "protocol.h"

namespace hold
{

constexpr const char *env_socket = "WSFS_HOLD_SOCKET";

// @given where it is not empty, else WSFS_HOLD_SOCKET, else default_socket.
std::string socket_path(const std::string &given);

struct Result {
	std::vector<Held> held;
	std::vector<ws::UniqueFd> streams; // with Verb::take, by slot
};

// @file goes with Verb::hold, else -1. Throws ws::Error, the broker's own too.
Result ask(const std::string &socket, const Request &request, int file = -1);

} // namespace hold
