// SPDX-License-Identifier: GPL-2.0
// Serves clients one after the other, each for a short time.
//
// One thread and no call that waits for a client: a client that says nothing,
// does not read or stays connected costs one descriptor until its time is over,
// and one user cannot have more than a few of these.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include <ws/unique_fd.h>

#include "table.h"

namespace hold
{

struct Limits {
	std::size_t clients = 64;
	std::size_t clients_of_a_user = 8; // but for root
	std::chrono::milliseconds time = std::chrono::seconds(5);
	// Ends run() where nothing is held and nobody connected for so long; 0: never.
	std::chrono::milliseconds idle{0};
};

class Server
{
public:
	using Clock = std::chrono::steady_clock;

	Server(Table &table, const Limits &limits);

	// Until @stop is readable, or nobody needs us. Throws ws::Error.
	void run(int listener, int stop);

private:
	struct Client {
		ws::UniqueFd socket;
		Peer peer;
		Clock::time_point deadline;
	};

	void accept_all(int listener);
	void serve(Client &client);
	[[nodiscard]] int wait_time(Clock::time_point now, Clock::time_point active) const;

	Table &table_;
	Limits limits_;
	std::vector<Client> clients_;
	ws::UniqueFd spare_; // given up to tell a client that descriptors are out
};

} // namespace hold
