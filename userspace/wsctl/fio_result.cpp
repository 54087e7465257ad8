// SPDX-License-Identifier: GPL-2.0
#include "fio_result.h"

#include <algorithm>
#include <functional>

namespace wsctl
{

namespace
{

double median(std::vector<double> values)
{
	const std::size_t half = values.size() / 2;

	std::ranges::sort(values);
	return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Of those rounds that tell; nothing where none does.
std::optional<double> median(const std::vector<FioRow> &rows, std::optional<double> FioRow::*member)
{
	std::vector<double> values;

	for (const FioRow &row : rows) {
		if (const std::optional<double> &value = row.*member)
			values.push_back(*value);
	}
	return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

// Places are counts, so one whole round stands for all.
const FioResult &middle_round(const std::vector<FioResult> &rounds)
{
	std::vector<std::reference_wrapper<const FioResult>> sorted(rounds.begin(), rounds.end());

	std::ranges::stable_sort(sorted, {},
				 [](const FioResult &round) { return round.places.all.extents; });
	return sorted[(sorted.size() - 1) / 2];
}

const FioPlaces &places_of(const FioPlacement &placement, const std::string &role)
{
	static const FioPlaces none;
	const auto found = placement.roles.find(role);

	return found == placement.roles.end() ? none : found->second;
}

// @rows: that of each round.
FioShown shown(const std::vector<FioRow> &rows, const FioPlaces &places, const FioResult &middle)
{
	FioShown row;
	std::vector<double> bytes;

	row.role = rows.front().name;
	row.places = places;
	row.streams = middle.streams;
	for (const FioRow &round : rows) {
		row.iops_of_rounds.push_back(round.iops());
		bytes.push_back(round.bytes_per_second());
	}
	row.iops = median(row.iops_of_rounds);
	row.bytes_per_second = median(std::move(bytes));
	row.p50 = median(rows, &FioRow::p50);
	row.p99 = median(rows, &FioRow::p99);
	row.p999 = median(rows, &FioRow::p999);
	return row;
}

std::vector<FioShown> shown_at(const FioSite &site)
{
	const FioResult &middle = middle_round(site.rounds);
	std::vector<FioShown> list;
	std::vector<FioRow> totals;

	for (const FioRow &role : site.rounds.front().rows) {
		std::vector<FioRow> rows;

		// Every round ran the same job.
		for (const FioResult &round : site.rounds) {
			const auto found = std::ranges::find(round.rows, role.name, &FioRow::name);

			if (found != round.rows.end())
				rows.push_back(*found);
		}
		list.push_back(shown(rows, places_of(middle.places, role.name), middle));
	}
	if (list.size() < 2)
		return list;
	totals.reserve(site.rounds.size());
	for (const FioResult &round : site.rounds)
		totals.push_back(total_of(round.rows));
	list.push_back(shown(totals, middle.places.all, middle));
	return list;
}

} // namespace

void summarize(std::vector<FioSite> &sites)
{
	for (FioSite &site : sites)
		site.shown = shown_at(site);
	if (sites.size() < 2)
		return;
	const std::vector<FioShown> &base = sites.front().shown;
	for (FioSite &site : sites) {
		for (std::size_t i = 0; i < std::min(site.shown.size(), base.size()); i++) {
			if (base[i].iops > 0)
				site.shown[i].ratio = site.shown[i].iops / base[i].iops;
		}
	}
}

} // namespace wsctl
