// SPDX-License-Identifier: GPL-2.0
#include "systemd.h"

#include <cstdlib>
#include <limits>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ws/error.h>
#include <ws/parse.h>

#include "socket.h"

namespace hold
{

namespace
{

constexpr int first_fd = 3; // SD_LISTEN_FDS_START

std::string take_variable(const char *name)
{
	const char *value = std::getenv(name);
	std::string text = value ? value : "";

	unsetenv(name);
	return text;
}

} // namespace

std::vector<std::string> listed_names(const std::string &listen_pid, const std::string &listen_fds,
				      const std::string &listen_fdnames, pid_t self)
{
	constexpr std::uint64_t most = 65536;
	const auto pid = ws::parse_number(listen_pid);
	const auto count = ws::parse_number(listen_fds, most);
	std::vector<std::string> names;

	if (!pid || !count || *pid != static_cast<std::uint64_t>(self))
		return names;
	for (std::size_t begin = 0; names.size() < *count;) {
		const std::size_t end =
			std::min(listen_fdnames.find(':', begin), listen_fdnames.size());

		names.push_back(listen_fdnames.substr(begin, end - begin));
		begin = std::min(end + 1, listen_fdnames.size());
	}
	return names;
}

std::vector<NamedFd> inherited_fds()
{
	const std::string pid = take_variable("LISTEN_PID");
	const std::string count = take_variable("LISTEN_FDS");
	const std::string names = take_variable("LISTEN_FDNAMES");
	std::vector<NamedFd> fds;

	for (const std::string &name : listed_names(pid, count, names, getpid())) {
		const int fd = first_fd + static_cast<int>(fds.size());

		if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
			break; // fewer than were promised
		fds.push_back({.name = name, .fd = ws::UniqueFd(fd)});
	}
	return fds;
}

Notifier::Notifier()
{
	const std::string path = take_variable("NOTIFY_SOCKET");

	if (path.empty())
		return;
	const sockaddr_un address = address_of(path);
	socket_ = ws::UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	// The length says where a name without a file ends.
	const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
	if (socket_ &&
	    connect(socket_.get(), reinterpret_cast<const sockaddr *>(&address), length) != 0)
		socket_.reset();
}

void Notifier::send(std::string_view state, int fd) const noexcept
{
	if (!socket_)
		return;
	try {
		send_packet(socket_.get(), state, fd < 0 ? std::vector<int>{} : std::vector{fd});
	} catch (const std::exception &) {
		// Without the manager streams are held all the same, until we end.
	}
}

void Notifier::keep(const std::string &name, int fd) noexcept
{
	send("FDSTORE=1\nFDPOLL=0\nFDNAME=" + name + "\n", fd);
}

void Notifier::drop(const std::string &name) noexcept
{
	send("FDSTOREREMOVE=1\nFDNAME=" + name + "\n");
}

} // namespace hold
