// SPDX-License-Identifier: GPL-2.0
// One line on the terminal that says how far a command is.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace wsctl
{

// "12345 files, 4115/s, 0:07 left"; @fraction is 0 where it is not known.
std::string progress_text(std::uint64_t count, std::string_view noun, double seconds,
			  double fraction);
// ", 0:07 left"; empty where there is no estimate.
std::string time_left(double seconds, double fraction);

class Progress
{
public:
	using Clock = std::chrono::steady_clock;

	// Nothing is shown where @shown is false.
	Progress(std::ostream &err, bool shown, std::string noun);
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;
	~Progress();

	// One more is done, in all this part of the whole. Shown after a second.
	void step(double fraction);
	// A line of the caller's own.
	void show(const std::string &line);
	// Before anything else is written to the terminal.
	void hide();

private:
	std::ostream &err_;
	bool shown_;
	std::string noun_;
	std::uint64_t count_ = 0;
	Clock::time_point start_ = Clock::now();
	Clock::time_point next_ = start_ + std::chrono::seconds(1);
	bool visible_ = false;
};

} // namespace wsctl
