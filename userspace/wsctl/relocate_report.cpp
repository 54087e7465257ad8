// SPDX-License-Identifier: GPL-2.0
#include "relocate_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "progress.h"
#include "text.h"

namespace wsctl
{

namespace
{

constexpr std::size_t listed_ranges = 1000;

void write_ranges(const Context &context, const RelocatePlan &plan)
{
	const std::size_t count = std::min(plan.strays.size(), listed_ranges);

	for (std::size_t i = 0; i < count; i++) {
		const Stray &stray = plan.strays[i];
		const std::uint64_t first = stray.offset / ws::sector_size;
		const std::uint64_t end =
			(stray.offset + stray.length + ws::sector_size - 1) / ws::sector_size;

		context.out << fmt::format("  [{}..{}]: AG {}\n", first, end - 1, stray.ag);
	}
	if (plan.strays.size() > count || plan.more)
		context.out << "  ...\n";
}

} // namespace

void write_report(const Context &context, const RelocateReport &report, bool verbose)
{
	const std::string name = escape(report.path);
	const RelocatePlan &plan = report.dry_run ? report.plan : report.left;

	if (report.dry_run && report.plan.stray_bytes > 0) {
		context.out << fmt::format("{}: {} to move from AG {} to AG {}\n", name,
					   binary_size(report.plan.stray_bytes),
					   report.plan.from.str(), report.home.str());
		write_ranges(context, report.plan);
	}
	if (report.moved > 0)
		context.out << fmt::format("{}: {} moved from AG {} to AG {}\n", name,
					   binary_size(report.moved), report.plan.from.str(),
					   report.home.str());
	if (plan.unwritten_bytes > 0)
		context.out << fmt::format("{}: {} preallocated elsewhere stay\n", name,
					   binary_size(plan.unwritten_bytes));
	if (report.dry_run && plan.shared_bytes > 0)
		context.out << fmt::format("{}: {} shared with other files stay; --shared moves "
					   "them\n",
					   name, binary_size(plan.shared_bytes));
	if (report.marked.value_or(false) && !plan.shares)
		context.out << fmt::format("{}: keeps XFS's mark of a shared file while others "
					   "have it open, or it has capabilities\n",
					   name);
	const bool idle = report.plan.stray_bytes == 0 && plan.shared_bytes == 0;
	if (verbose && idle && report.moved == 0)
		context.out << fmt::format("{}: is home in AG {}\n", name, report.home.str());
}

void add_report(Json &entry, const RelocateReport &report)
{
	const RelocatePlan &plan = report.dry_run ? report.plan : report.left;

	entry["stream"] = report.stream ? Json(*report.stream) : Json();
	entry["ag_set"] = report.home.str();
	entry["from"] = report.plan.from.str();
	entry["stray_bytes"] = report.plan.stray_bytes;
	entry["moved_bytes"] = report.moved;
	entry["left_bytes"] = plan.stray_bytes;
	entry["unwritten_bytes"] = plan.unwritten_bytes;
	entry["shared_bytes"] = plan.shared_bytes;
	entry["marked"] = report.marked ? Json(*report.marked) : Json();
	if (!report.dry_run)
		return;
	Json &ranges = entry["ranges"] = Json::array();
	for (const Stray &stray : report.plan.strays) {
		if (ranges.size() == listed_ranges)
			break;
		ranges.push_back(
			{{"offset", stray.offset}, {"length", stray.length}, {"ag", stray.ag}});
	}
}

std::string relocate_progress_text(std::uint64_t done, std::uint64_t all, double seconds)
{
	constexpr double mib = 1 << 20;
	const auto bytes = static_cast<double>(done);
	const auto total = static_cast<double>(std::max<std::uint64_t>(all, 1));

	return fmt::format("{:.1f} of {:.1f} MiB, {:.1f} MiB/s", bytes / mib,
			   static_cast<double>(all) / mib, bytes / mib / std::max(seconds, 1e-3)) +
	       time_left(seconds, std::min(bytes / total, 1.0));
}

} // namespace wsctl
