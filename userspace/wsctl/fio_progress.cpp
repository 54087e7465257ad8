// SPDX-License-Identifier: GPL-2.0
#include "fio_progress.h"

#include <algorithm>
#include <utility>

#include <sys/stat.h>

#include <fmt/format.h>

namespace wsctl
{

namespace
{

std::uint64_t bytes_on_disk(const FioPlan &plan, const std::string &dir)
{
	constexpr std::uint64_t block = 512;
	std::uint64_t total = 0;
	struct stat st = {};

	for (const FioFile &file : plan.files) {
		if (stat((dir + "/" + file.name).c_str(), &st) == 0)
			total += static_cast<std::uint64_t>(st.st_blocks) * block;
	}
	return total;
}

} // namespace

std::string fio_progress_text(const std::string &what, const FioPlan &plan, std::uint64_t bytes,
			      double seconds)
{
	constexpr double mib = 1 << 20;
	const auto done = static_cast<double>(bytes);
	double fraction = 0;

	if (plan.bytes > 0)
		fraction = std::min(done / static_cast<double>(plan.bytes), 1.0);
	// Whichever comes first ends it.
	if (plan.seconds > 0)
		fraction = std::max(fraction,
				    std::min(seconds / static_cast<double>(plan.seconds), 1.0));
	return fmt::format("{}: {:.0f} MiB, {:.1f} MiB/s", what, done / mib,
			   done / mib / std::max(seconds, 1e-3)) +
	       time_left(seconds, fraction);
}

FioProgress::FioProgress(const Context &context, std::string what, const FioPlan &plan,
			 std::string dir)
    : what_(std::move(what)), plan_(plan), dir_(std::move(dir)), shown_(context.progress),
      line_(context.err, context.progress, "")
{
}

void FioProgress::tick()
{
	const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;

	if (shown_)
		line_.show(
			fio_progress_text(what_, plan_, bytes_on_disk(plan_, dir_), time.count()));
}

} // namespace wsctl
