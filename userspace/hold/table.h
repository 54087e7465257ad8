// SPDX-License-Identifier: GPL-2.0
// The reservations that the broker holds, and who may do what with them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ws/kernel.h>
#include <ws/unique_fd.h>

#include "protocol.h"
#include "socket.h"

namespace hold
{

// Where descriptors are kept while the broker is started anew.
class Store
{
public:
	Store() = default;
	Store(const Store &) = delete;
	Store &operator=(const Store &) = delete;
	virtual ~Store() = default;

	virtual void keep(const std::string &name, int fd) noexcept = 0;
	virtual void drop(const std::string &name) noexcept = 0;
};

// What goes back to a client.
struct Answer {
	Reply reply;
	std::vector<int> fds; // of streams that the table holds
};

class Table
{
public:
	Table(const ws::Host &host, Store &store) : host_(host), store_(store) {}

	// Does what the client asks for, if it may. Errors go into the reply.
	Answer answer(const Peer &peer, const Packet &packet);
	// Takes back what a broker before us put into the store; false where
	// @name is no name of ours.
	bool restore(const std::string &name, ws::UniqueFd fd);
	// Lets go of restored reservations that are not whole; returns their names.
	std::vector<std::string> finish_restore();
	[[nodiscard]] bool empty() const noexcept { return reservations_.empty(); }

private:
	struct Reservation {
		std::optional<std::uint32_t> group;
		std::string dev;
		std::vector<ws::UniqueFd> streams;
	};

	void reserve(const Peer &peer, const Request &request, const Packet &packet,
		     Answer &answer);
	void take(const Peer &peer, const Request &request, Answer &answer);
	void release(const Peer &peer, const Request &request);
	[[nodiscard]] Held shown(const std::string &name, const Reservation &reservation) const;
	Reservation &find(const std::string &name);

	ws::Host host_;
	Store &store_;
	std::map<std::string, Reservation> reservations_;
};

// How a stream is named in the store: "NAME/GROUP/SLOT/COUNT/DEV".
struct StoredName {
	std::string name;
	std::optional<std::uint32_t> group;
	std::uint32_t slot = 0;
	std::uint32_t count = 0;
	std::string dev;
};
std::string encode(const StoredName &stored);
std::optional<StoredName> parse_stored_name(std::string_view text);

} // namespace hold
