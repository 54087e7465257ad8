// SPDX-License-Identifier: GPL-2.0
#include "spread.h"

#include <fmt/format.h>

#include "text.h"

namespace wsctl
{

std::string Spread::text(std::uint64_t tolerance) const
{
	return fmt::format("{} in AG {}, {} in AG {}, expected numbers that differ by at most {} "
			   "over AGs {}",
			   plural(most, "file"), most_ag, least, least_ag, tolerance, ag_set);
}

Json Spread::json() const
{
	const auto place = [](std::uint32_t agno, std::uint64_t count) {
		Json object = Json::object();

		object["ag"] = agno;
		object["files"] = count;
		return object;
	};
	Json object = Json::object();

	object["group"] = group;
	object["ag_set"] = ag_set;
	object["files"] = files;
	object["least"] = place(least_ag, least);
	object["most"] = place(most_ag, most);
	object["ok"] = ok;
	return object;
}

void SpreadCount::add(const SpreadKey &key, const std::string &group, const ws::AgSet &set,
		      std::uint32_t agno)
{
	const auto [entry, fresh] = groups_.try_emplace(key);

	if (fresh) {
		entry->second.name = group;
		entry->second.set = set;
	}
	entry->second.files[agno]++;
}

std::vector<Spread> SpreadCount::judge(std::uint64_t tolerance) const
{
	std::vector<Spread> list;

	for (const auto &[key, group] : groups_) {
		Spread spread{.group = group.name, .ag_set = group.set.str()};
		bool first = true;

		// Files outside of the set are another rule's business.
		for (const ws::AgSet::Range &range : group.set.ranges()) {
			for (std::uint64_t agno = range.first; agno <= range.last; agno++) {
				const auto at = static_cast<std::uint32_t>(agno);
				const auto found = group.files.find(at);
				const std::uint64_t count =
					found == group.files.end() ? 0 : found->second;

				spread.files += count;
				if (first || count < spread.least) {
					spread.least = count;
					spread.least_ag = at;
				}
				if (first || count > spread.most) {
					spread.most = count;
					spread.most_ag = at;
				}
				first = false;
			}
		}
		spread.ok = spread.most - spread.least <= tolerance;
		list.push_back(std::move(spread));
	}
	return list;
}

} // namespace wsctl
