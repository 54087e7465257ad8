// SPDX-License-Identifier: GPL-2.0
#include "server.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <ws/error.h>

namespace hold
{

namespace
{

// Errors of one client are that client's.
void reply(int socket, const Answer &answer) noexcept
{
	try {
		send_packet(socket, encode(answer.reply), answer.fds);
	} catch (const std::exception &) { // NOLINT(bugprone-empty-catch)
		// It has gone, or takes no descriptors; telling of it would let it fill logs.
	}
}

} // namespace

Server::Server(Table &table, const Limits &limits)
    : table_(table), limits_(limits), spare_(open("/dev/null", O_RDONLY | O_CLOEXEC))
{
}

void Server::accept_all(int listener)
{
	for (;;) {
		ws::UniqueFd socket(
			accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
		Client client;

		if (!socket && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (!socket && (errno == EMFILE || errno == ENFILE) && spare_) {
			// Left waiting it would wake us again and again.
			spare_.reset();
			socket = ws::UniqueFd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
			socket.reset();
			spare_ = ws::UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
			return;
		}
		if (!socket)
			return;
		try {
			client.peer = peer_of(socket.get());
		} catch (const ws::Error &) {
			continue;
		}
		const auto same = std::ranges::count_if(clients_, [&](const Client &other) {
			return other.peer.uid == client.peer.uid;
		});
		const bool many = clients_.size() >= limits_.clients ||
				  static_cast<std::size_t>(same) >= limits_.clients_of_a_user;
		if (many && !client.peer.is_root()) {
			Answer answer;

			answer.reply.error = ws::Error("wsfs-holdd", "accept", EBUSY,
						       "too many clients at once; try again");
			reply(socket.get(), answer);
			continue;
		}
		client.socket = std::move(socket);
		client.deadline = Clock::now() + limits_.time;
		clients_.push_back(std::move(client));
	}
}

void Server::serve(Client &client)
{
	try {
		// Only root sends descriptors. From others not even their closing is
		// wanted: that may wait for a filesystem in user space.
		const Packet packet = receive_packet(client.socket.get(), max_request,
						     client.peer.is_root() ? 1 : 0);

		if (!packet.text.empty())
			reply(client.socket.get(), table_.answer(client.peer, packet));
	} catch (const ws::Error &error) {
		if (error.code() == EAGAIN)
			return;
	}
	client.socket.reset();
}

int Server::wait_time(Clock::time_point now, Clock::time_point active) const
{
	using std::chrono::ceil;
	using std::chrono::milliseconds;
	auto until = Clock::time_point::max();

	for (const Client &client : clients_)
		until = std::min(until, client.deadline);
	if (clients_.empty() && table_.empty() && limits_.idle.count() != 0)
		until = active + limits_.idle;
	if (until == Clock::time_point::max())
		return -1;
	const auto left = ceil<milliseconds>(std::max(until - now, Clock::duration::zero()));
	return static_cast<int>(
		std::min<std::int64_t>(left.count(), std::numeric_limits<int>::max()));
}

void Server::run(int listener, int stop)
{
	auto active = Clock::now();

	for (;;) {
		std::vector<pollfd> wanted{{.fd = stop, .events = POLLIN, .revents = 0},
					   {.fd = listener, .events = POLLIN, .revents = 0}};

		for (const Client &client : clients_)
			wanted.push_back(
				{.fd = client.socket.get(), .events = POLLIN, .revents = 0});
		const int ready =
			poll(wanted.data(), wanted.size(), wait_time(Clock::now(), active));
		if (ready < 0 && errno != EINTR)
			throw ws::Error("wsfs-holdd", "poll", errno);
		if (ready > 0 && wanted[0].revents != 0)
			return;
		const auto now = Clock::now();
		for (std::size_t i = 0; i < clients_.size(); i++) {
			if (ready > 0 && wanted[i + 2].revents != 0)
				serve(clients_[i]);
			else if (clients_[i].deadline <= now)
				clients_[i].socket.reset();
		}
		std::erase_if(clients_, [](const Client &client) { return !client.socket; });
		if (ready > 0 && wanted[1].revents != 0) {
			active = now;
			accept_all(listener);
		}
		if (clients_.empty() && table_.empty() && limits_.idle.count() != 0 &&
		    now >= active + limits_.idle)
			return;
		if (!table_.empty())
			active = now;
	}
}

} // namespace hold
