// SPDX-License-Identifier: GPL-2.0
#include "ag_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ws/fsmap.h>

#include "text.h"

namespace wsctl
{

namespace
{

void add(AgTotals &totals, const ws::AgUsage &usage)
{
	totals.blocks += usage.blocks;
	totals.free_blocks += usage.free_blocks;
	totals.inodes += usage.inodes;
}

} // namespace

AgTable::AgTable(const ws::Mount &mount)
    : block_size_(mount.geometry().block_size), usage_(mount.ag_usage())
{
}

AgTotals AgTable::totals(const ws::AgSet &set) const
{
	AgTotals totals;

	for (std::size_t agno = 0; agno < usage_.size(); agno++) {
		if (set.contains(static_cast<std::uint32_t>(agno)))
			add(totals, usage_[agno]);
	}
	return totals;
}

AgTotals AgTable::totals() const
{
	AgTotals totals;

	for (const ws::AgUsage &usage : usage_)
		add(totals, usage);
	return totals;
}

void AgTable::find_largest(const ws::Host &host, const ws::Mount &mount, Progress &progress)
{
	const ws::Groups &ags = mount.geometry().ags;
	const double sectors = std::max(1.0, static_cast<double>(ags.sectors) * ags.count);
	std::vector<std::uint64_t> largest(usage_.size());
	std::optional<dev_t> device; // the first one is that of the data

	ws::walk_fsmap(host, mount.fd(), mount.path(), [&](const ws::Mapping &mapping) {
		if (!device)
			device = mapping.device;
		progress.step(static_cast<double>(mapping.sector) / sectors);
		const auto agno = ags.group_of(mapping.sector);

		if (mapping.device != *device || mapping.owner != ws::Mapping::Owner::free ||
		    !agno || *agno >= largest.size())
			return;
		largest[*agno] = std::max(largest[*agno], mapping.length * ws::sector_size);
	});
	progress.hide();
	largest_ = std::move(largest);
}

void AgTable::write(std::ostream &out, const ws::DeviceState *state) const
{
	const auto owners_text = [&](std::size_t agno) {
		const auto owners = state ? state->owners_of(static_cast<std::uint32_t>(agno))
					  : std::vector<std::uint32_t>();

		return owners.empty() ? std::string("-")
				      : fmt::format("{}", fmt::join(owners, ","));
	};

	out << fmt::format("  {:>6}  {:>6}  {:>10}  {:>10}  {:>10}  {:>9}\n", "AG", "STREAM",
			   "SIZE", "FREE", "LARGEST", "INODES");
	for (std::size_t agno = 0; agno < usage_.size(); agno++) {
		const ws::AgUsage &usage = usage_[agno];

		out << fmt::format(
			"  {:>6}  {:>6}  {:>10}  {:>10}  {:>10}  {:>9}\n", agno, owners_text(agno),
			short_size(bytes(usage.blocks)), short_size(bytes(usage.free_blocks)),
			largest_.empty() ? "-" : short_size(largest_[agno]), usage.inodes);
	}
}

Json AgTable::json(const ws::DeviceState *state) const
{
	Json list = Json::array();

	for (std::size_t agno = 0; agno < usage_.size(); agno++) {
		const ws::AgUsage &usage = usage_[agno];
		Json object = Json::object();

		object["ag"] = agno;
		object["owners"] = state ? state->owners_of(static_cast<std::uint32_t>(agno))
					 : std::vector<std::uint32_t>();
		object["bytes"] = bytes(usage.blocks);
		object["free_bytes"] = bytes(usage.free_blocks);
		object["largest_free_bytes"] = largest_.empty() ? Json() : Json(largest_[agno]);
		object["inodes"] = usage.inodes;
		list.push_back(std::move(object));
	}
	return list;
}

} // namespace wsctl
