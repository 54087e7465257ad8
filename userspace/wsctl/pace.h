// SPDX-License-Identifier: GPL-2.0
// Keeps a command to its limit of bytes a second.
#pragma once

#include <chrono>
#include <cstdint>

namespace wsctl
{

class Pace
{
public:
	// @rate: bytes a second, 0 for any.
	explicit Pace(std::uint64_t rate) : rate_(rate) {}

	[[nodiscard]] std::uint64_t rate() const noexcept { return rate_; }
	// So much is done: waits until there may be more, or somebody asks to end.
	void done(std::uint64_t bytes);

private:
	using Clock = std::chrono::steady_clock;

	std::uint64_t rate_;
	std::uint64_t bytes_ = 0;
	Clock::time_point start_ = Clock::now();
};

} // namespace wsctl
