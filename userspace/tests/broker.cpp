// SPDX-License-Identifier: GPL-2.0
#include "broker.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hold/client.h>

namespace
{

ws::UniqueFd make_listener(const std::string &path)
{
	const sockaddr_un address = hold::address_of(path);
	ws::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	if (!fd ||
	    bind(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 ||
	    chmod(path.c_str(), 0666) != 0 || listen(fd.get(), 128) != 0)
		throw std::system_error(errno, std::generic_category(), path);
	return fd;
}

} // namespace

void FakeStore::keep(const std::string &name, int fd) noexcept
{
	kept[name] = ws::UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

void FakeStore::drop(const std::string &name) noexcept
{
	kept.erase(name);
}

Broker::Broker(FakeHost &fake, const hold::Limits &limits)
    : table(fake.host(), store), server_(table, limits), path_(fake.root / "hold.sock"),
      listener_(make_listener(path_))
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		throw std::system_error(errno, std::generic_category(), "pipe2");
	stop_read_ = ws::UniqueFd(fds[0]);
	stop_write_ = ws::UniqueFd(fds[1]);
	// Other users have to get through.
	chmod(fake.root.c_str(), 0755);
	setenv(hold::env_socket, path_.c_str(), 1);
	thread_ = std::thread([this] { server_.run(listener_.get(), stop_read_.get()); });
}

Broker::~Broker()
{
	stop_write_.reset();
	thread_.join();
	unsetenv(hold::env_socket);
}

ws::UniqueFd connect_to_broker(const std::string &path)
{
	const sockaddr_un address = hold::address_of(path);
	ws::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));

	if (!fd ||
	    connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
		throw std::system_error(errno, std::generic_category(), path);
	return fd;
}
