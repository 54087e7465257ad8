// SPDX-License-Identifier: GPL-2.0
#include "socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

#include <ws/error.h>

namespace hold
{

bool Peer::in_group(gid_t group) const noexcept
{
	return std::ranges::find(groups, group) != groups.end();
}

sockaddr_un address_of(const std::string &path)
{
	sockaddr_un address = {};

	if (path.empty() || path.size() >= sizeof(address.sun_path))
		throw ws::Error(path, "is no possible name of a socket",
				"the kernel takes names of up to 107 bytes");
	address.sun_family = AF_UNIX;
	path.copy(address.sun_path, path.size());
	// As systemd writes a socket without a file.
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	return address;
}

void send_packet(int socket, std::string_view text, const std::vector<int> &fds)
{
	std::vector<char> control(fds.empty() ? 0 : CMSG_SPACE(fds.size() * sizeof(int)));
	iovec part = {.iov_base = const_cast<char *>(text.data()), .iov_len = text.size()};
	msghdr message = {};
	ssize_t sent = 0;

	message.msg_iov = &part;
	message.msg_iovlen = 1;
	if (!fds.empty()) {
		message.msg_control = control.data();
		message.msg_controllen = control.size();
		cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
		std::memcpy(CMSG_DATA(head), fds.data(), fds.size() * sizeof(int));
	}
	do {
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		throw ws::Error("socket", "sendmsg", errno);
}

Packet receive_packet(int socket, std::size_t max_text, std::size_t max_fds)
{
	Packet packet;
	std::vector<char> control(max_fds == 0 ? 0 : CMSG_SPACE(max_fds * sizeof(int)));
	msghdr message = {};
	ssize_t got = 0;

	packet.text.resize(max_text);
	iovec part = {.iov_base = packet.text.data(), .iov_len = packet.text.size()};
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	if (!control.empty()) {
		message.msg_control = control.data();
		message.msg_controllen = control.size();
	}
	do {
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		throw ws::Error("socket", "recvmsg", errno);
	packet.text.resize(static_cast<std::size_t>(got));
	packet.cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
	for (cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (std::size_t i = 0; i < count; i++) {
			int fd = -1;

			std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
			packet.fds.emplace_back(fd);
		}
	}
	// The buffer may have had room for one more than was asked for.
	if (packet.fds.size() > max_fds) {
		packet.fds.resize(max_fds);
		packet.cut = true;
	}
	return packet;
}

Peer peer_of(int socket)
{
	ucred credentials = {};
	socklen_t size = sizeof(credentials);
	Peer peer;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
		throw ws::Error("socket", "getsockopt(SO_PEERCRED)", errno);
	peer.uid = credentials.uid;
	std::vector<gid_t> more(64);
	size = static_cast<socklen_t>(more.size() * sizeof(gid_t));
	while (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, more.data(), &size) != 0) {
		if (errno != ERANGE)
			throw ws::Error("socket", "getsockopt(SO_PEERGROUPS)", errno);
		more.resize(size / sizeof(gid_t));
	}
	more.resize(size / sizeof(gid_t));
	peer.groups.push_back(credentials.gid);
	peer.groups.insert(peer.groups.end(), more.begin(), more.end());
	return peer;
}

} // namespace hold
