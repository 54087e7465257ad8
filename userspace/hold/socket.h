// SPDX-License-Identifier: GPL-2.0
// Packets with descriptors over a Unix socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <sys/un.h>

#include <ws/unique_fd.h>

namespace hold
{

struct Packet {
	std::string text;
	std::vector<ws::UniqueFd> fds;
	bool cut = false; // there was more than was asked for
};

// Who is at the other end, as the kernel says, when it connected.
struct Peer {
	uid_t uid = static_cast<uid_t>(-1);
	std::vector<gid_t> groups; // its own one first

	[[nodiscard]] bool is_root() const noexcept { return uid == 0; }
	[[nodiscard]] bool in_group(gid_t group) const noexcept;
};

// The address of a socket. Throws ws::Error where the path is too long.
sockaddr_un address_of(const std::string &path);

// One packet. Throws ws::Error.
void send_packet(int socket, std::string_view text, const std::vector<int> &fds);
// One packet of @max_text bytes at most, empty where the other end has gone.
// Descriptors over @max_fds are closed, and none is even installed where that
// is 0. Throws ws::Error.
Packet receive_packet(int socket, std::size_t max_text, std::size_t max_fds);

// Throws ws::Error.
Peer peer_of(int socket);

} // namespace hold
