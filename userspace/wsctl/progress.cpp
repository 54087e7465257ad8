// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "text.h"

namespace wsctl
{

namespace
{

std::string duration(double seconds)
{
	constexpr std::uint64_t minute = 60;
	constexpr std::uint64_t hour = 60 * minute;
	const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));

	if (whole >= hour)
		return fmt::format("{}:{:02}:{:02}", whole / hour, whole % hour / minute,
				   whole % minute);
	return fmt::format("{}:{:02}", whole / minute, whole % minute);
}

} // namespace

std::string progress_text(std::uint64_t count, std::string_view noun, double seconds,
			  double fraction)
{
	const double rate = static_cast<double>(count) / std::max(seconds, 1e-3);

	return fmt::format("{}, {:.0f}/s", plural(count, noun), rate) +
	       time_left(seconds, fraction);
}

std::string time_left(double seconds, double fraction)
{
	constexpr double longest = 100.0 * 3600; // more is no estimate

	if (fraction <= 0 || fraction > 1)
		return {};
	const double left = seconds / fraction - seconds;
	return left < longest ? fmt::format(", {} left", duration(left)) : std::string();
}

Progress::Progress(std::ostream &err, bool shown, std::string noun)
    : err_(err), shown_(shown), noun_(std::move(noun))
{
}

Progress::~Progress()
{
	try {
		hide();
	} catch (const std::exception &) {
		visible_ = false; // a terminal that went away needs no cleaning
	}
}

void Progress::step(double fraction)
{
	constexpr auto interval = std::chrono::milliseconds(200);

	count_++;
	if (!shown_)
		return;
	const auto now = Clock::now();
	if (now < next_)
		return;
	next_ = now + interval;
	const std::chrono::duration<double> elapsed = now - start_;
	show(progress_text(count_, noun_, elapsed.count(), fraction));
}

void Progress::show(const std::string &line)
{
	if (!shown_)
		return;
	visible_ = true;
	err_ << "\r\x1b[K" << line << std::flush;
}

void Progress::hide()
{
	if (std::exchange(visible_, false))
		err_ << "\r\x1b[K" << std::flush;
}

} // namespace wsctl
