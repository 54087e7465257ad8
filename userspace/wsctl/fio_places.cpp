// SPDX-License-Identifier: GPL-2.0
#include "fio_places.h"

#include <algorithm>

#include "placement.h"

namespace wsctl
{

namespace
{

struct Found {
	std::uint64_t extents = 0;
	ws::AgSet ags;
};

Found look_at(const ws::Host &host, const OpenFile &file)
{
	Found found;

	ws::walk_extents(host, file.fd.get(), file.path, file.shape, [&](const ws::Extent &extent) {
		if (!extent.sector)
			return;
		found.extents++;
		if (const auto ag = file.group_of(extent))
			found.ags.add(*ag);
	});
	return found;
}

void unite(ws::AgSet &set, const ws::AgSet &other)
{
	for (const ws::AgSet::Range &range : other.ranges()) {
		for (std::uint32_t ag = range.first; ag <= range.last; ag++)
			set.add(ag);
	}
}

void add(FioPlaces &places, const Found &found, std::optional<std::uint32_t> slot)
{
	places.files++;
	places.extents += found.extents;
	places.most_extents = std::max(places.most_extents, found.extents);
	unite(places.ags[slot], found.ags);
}

} // namespace

double FioPlaces::extents_per_file() const noexcept
{
	return files == 0 ? 0 : static_cast<double>(extents) / static_cast<double>(files);
}

double FioPlaces::ags_per_stream() const noexcept
{
	std::uint64_t total = 0;

	for (const auto &[slot, set] : ags)
		total += set.size();
	return ags.empty() ? 0 : static_cast<double>(total) / static_cast<double>(ags.size());
}

std::uint64_t FioPlaces::shared_ags() const
{
	std::map<std::uint32_t, unsigned> users;

	for (const auto &[slot, set] : ags) {
		for (const ws::AgSet::Range &range : set.ranges()) {
			for (std::uint32_t ag = range.first; ag <= range.last; ag++)
				users[ag]++;
		}
	}
	return static_cast<std::uint64_t>(
		std::ranges::count_if(users, [](const auto &entry) { return entry.second > 1; }));
}

FioPlacement look_at_places(const ws::Host &host, const FioPlan &plan, const std::string &dir)
{
	FioPlacement placement;
	Opener opener(host);

	for (const FioFile &file : plan.files) {
		const Found found = look_at(host, opener.open(dir + "/" + file.name));

		add(placement.roles[file.role], found, file.stream);
		add(placement.all, found, file.stream);
	}
	return placement;
}

} // namespace wsctl
