// SPDX-License-Identifier: GPL-2.0
#include "client.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <ws/error.h>

#include "socket.h"

namespace hold
{

namespace
{

ws::UniqueFd connect_to(const std::string &path)
{
	constexpr timeval patience = {.tv_sec = 10, .tv_usec = 0};
	const sockaddr_un address = address_of(path);
	ws::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));

	if (!socket)
		throw ws::Error(path, "socket", errno);
	if (setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
	    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0)
		throw ws::Error(path, "setsockopt", errno);
	const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
	if (connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), length) != 0) {
		const int code = errno;
		const bool absent = code == ENOENT || code == ECONNREFUSED;

		throw ws::Error(
			path, "connect", code,
			absent ? "the broker does not run; start it with: systemctl enable --now "
				 "wsfs-hold.socket, or run wsfs-holdd"
			       : ws::advice_for("connect", code));
	}
	return socket;
}

// Never in the place of a closed stdin, stdout or stderr.
ws::UniqueFd above_standard(ws::UniqueFd fd)
{
	constexpr int lowest = 3;

	if (fd.get() >= lowest)
		return fd;
	ws::UniqueFd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest));
	if (!moved)
		throw ws::Error("stream", "fcntl(F_DUPFD_CLOEXEC)", errno);
	return moved;
}

} // namespace

std::string socket_path(const std::string &given)
{
	const char *value = std::getenv(env_socket);

	if (!given.empty())
		return given;
	return value && *value ? value : default_socket;
}

Result ask(const std::string &path, const Request &request, int file)
{
	const ws::UniqueFd socket = connect_to(path);
	Result result;

	try {
		send_packet(socket.get(), encode(request),
			    file < 0 ? std::vector<int>{} : std::vector{file});
	} catch (const ws::Error &error) {
		// It may have said why before it hung up.
		if (error.code() != EPIPE)
			throw ws::Error(path, error.call(), error.code());
	}
	Packet packet;
	try {
		packet = receive_packet(socket.get(), max_reply, max_streams);
	} catch (const ws::Error &error) {
		throw ws::Error(path, error.call(), error.code(),
				error.code() == EAGAIN
					? "the broker did not answer in 10 seconds"
					: ws::advice_for(error.call(), error.code()));
	}
	if (packet.text.empty())
		throw ws::Error(path, "the broker hung up without an answer",
				"its log says more: journalctl -u wsfs-hold");
	Reply reply = parse_reply(packet.text);
	if (reply.error)
		throw ws::Error(*reply.error);
	result.held = std::move(reply.held);
	for (ws::UniqueFd &stream : packet.fds)
		result.streams.push_back(above_standard(std::move(stream)));
	const bool takes = request.verb == Verb::take;
	if (packet.cut ||
	    (takes && (result.held.size() != 1 || result.held[0].streams != result.streams.size())))
		throw ws::Error(path, "fewer streams came than are held",
				"raise the limit of open files: ulimit -n");
	return result;
}

} // namespace hold
