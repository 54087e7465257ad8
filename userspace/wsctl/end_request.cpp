// SPDX-License-Identifier: GPL-2.0
#include "end_request.h"

namespace wsctl
{

namespace
{

volatile std::sig_atomic_t last = 0;

void note(int signal)
{
	last = signal;
}

} // namespace

EndRequest::EndRequest()
{
	struct sigaction noting = {};

	last = 0;
	noting.sa_handler = note;
	// Calls go on, so that nothing fails for being interrupted.
	noting.sa_flags = SA_RESTART;
	for (std::size_t i = 0; i < signals.size(); i++) {
		sigaction(signals.at(i), nullptr, &before_.at(i));
		if (before_.at(i).sa_handler != SIG_IGN)
			sigaction(signals.at(i), &noting, nullptr);
	}
}

EndRequest::~EndRequest()
{
	for (std::size_t i = 0; i < signals.size(); i++)
		sigaction(signals.at(i), &before_.at(i), nullptr);
}

int EndRequest::noted() noexcept
{
	return last;
}

} // namespace wsctl
