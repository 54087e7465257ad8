// SPDX-License-Identifier: GPL-2.0
// Signals that ask to end, noted rather than obeyed, for a command that has to
// clean up behind itself.
#pragma once

#include <array>
#include <csignal>

namespace wsctl
{

// Notes SIGINT, SIGTERM, SIGHUP and SIGQUIT while it lives, but for those that
// are ignored. One at a time. A child that is executed has what there was before.
class EndRequest
{
public:
	EndRequest();
	EndRequest(const EndRequest &) = delete;
	EndRequest &operator=(const EndRequest &) = delete;
	~EndRequest();

	// The signal that came last, or 0.
	[[nodiscard]] static int noted() noexcept;

private:
	static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	std::array<struct sigaction, signals.size()> before_ = {};
};

} // namespace wsctl
