// SPDX-License-Identifier: GPL-2.0
// The documented protocols of sd_listen_fds(3) and sd_notify(3), by hand: they
// are a few lines, and so the broker needs no library for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <ws/unique_fd.h>

#include "table.h"

namespace hold
{

struct NamedFd {
	std::string name;
	ws::UniqueFd fd;
};

// The names of the descriptors from 3 on, by the variables of sd_listen_fds(3);
// none where they are meant for another process than @self.
std::vector<std::string> listed_names(const std::string &listen_pid, const std::string &listen_fds,
				      const std::string &listen_fdnames, pid_t self);

// The descriptors that the service manager started us with, close-on-exec.
// Takes the variables out of the environment.
std::vector<NamedFd> inherited_fds();

// Tells the service manager; does nothing where there is none.
class Notifier final : public Store
{
public:
	Notifier();

	void send(std::string_view state, int fd = -1) const noexcept;
	void keep(const std::string &name, int fd) noexcept override;
	void drop(const std::string &name) noexcept override;

private:
	ws::UniqueFd socket_;
};

} // namespace hold
