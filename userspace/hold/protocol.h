// SPDX-License-Identifier: GPL-2.0
// What wsctl and wsfs-holdd say to each other.
//
// A connection (AF_UNIX, SOCK_SEQPACKET) carries one request and one reply,
// each one packet of text:
//
//	wsfs-hold 1
//	VERB, or "ok" or "error"
//	KEY=VALUE, as often as needed
//
// hold  name= streams= [group=] [keep=1]  with a file of the filesystem as
//                                         descriptor; root alone
// take  name=                             the reply has the streams' descriptors
// release name=                           root alone
// list                                    what is held
//
// Everything here takes text of whatever origin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ws/error.h>

namespace hold
{

constexpr const char *default_socket = "/run/wsfs/hold.sock";
constexpr std::size_t max_request = 1024;
constexpr std::size_t max_reply = 65536;
constexpr std::size_t max_name = 32;
// One reply carries so many descriptors; the kernel's own limit is 253.
constexpr std::uint32_t max_streams = 64;

enum class Verb { hold, take, release, list };

struct Request {
	Verb verb = Verb::list;
	std::string name = {}; // of a reservation, not for list
	// For hold:
	std::uint32_t streams = 1;
	std::optional<std::uint32_t> group = std::nullopt; // whose members may take it
	bool keep = false; // be content with one that is there already
	bool operator==(const Request &) const = default;
};

// A reservation as it is shown.
struct Held {
	std::string name;
	std::optional<std::uint32_t> group;
	std::string dev;		// directory below /sys/fs/wsfs, or empty
	std::vector<std::uint32_t> ids; // by slot; empty where the kernel tells none
	std::uint32_t streams = 0;
	bool operator==(const Held &) const = default;
};

struct Reply {
	std::vector<Held> held;
	std::optional<ws::Error> error;
};

// Letters, digits, '.', '_' and '-', at most max_name of them; no '.' or '-' first.
bool is_name(std::string_view text) noexcept;

std::string encode(const Request &request);
std::string encode(const Reply &reply);
// Throw ws::Error where the text is not what encode() writes.
Request parse_request(std::string_view text);
Reply parse_reply(std::string_view text);

} // namespace hold
