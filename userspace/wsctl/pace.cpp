// SPDX-License-Identifier: GPL-2.0
#include "pace.h"

#include <algorithm>
#include <thread>

#include "end_request.h"
#include "rate.h"

namespace wsctl
{

void Pace::done(std::uint64_t bytes)
{
	using Seconds = std::chrono::duration<double>;
	constexpr Seconds look(0.05); // for a signal
	constexpr Seconds idle(1);    // is not saved up for later

	if (rate_ == 0)
		return;
	const Seconds ahead = Clock::now() - start_ -
			      Seconds(static_cast<double>(bytes_) / static_cast<double>(rate_));
	if (ahead > idle) {
		start_ = Clock::now();
		bytes_ = 0;
	}
	bytes_ += bytes;
	while (EndRequest::noted() == 0) {
		const Seconds elapsed = Clock::now() - start_;
		const Seconds pause(pause_for(rate_, bytes_, elapsed.count()));

		if (pause.count() <= 0)
			return;
		std::this_thread::sleep_for(std::min(pause, look));
	}
}

} // namespace wsctl
