// SPDX-License-Identifier: GPL-2.0
// What "wsctl fio run" shows.
#include <algorithm>
#include <filesystem>

#include <sys/sysmacros.h>

#include <fmt/format.h>

#include "bar_chart.h"
#include "fio_result.h"
#include "json.h"
#include "text.h"

namespace wsctl
{

namespace
{

constexpr double mib = 1 << 20;

std::string or_dash(const std::optional<double> &value, int digits)
{
	return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

Json or_null(const std::optional<double> &value)
{
	return value ? Json(*value) : Json();
}

// What of the role's files lies where, by stream.
Json streams_json(const FioShown &row)
{
	Json list = Json::array();

	for (const auto &[slot, used] : row.places.ags) {
		std::optional<ws::StreamFdInfo> info;
		Json object = Json::object();

		if (slot && *slot < row.streams.size())
			info = row.streams[*slot];
		object["slot"] = slot ? Json(*slot) : Json();
		object["id"] = info ? Json(info->id) : Json();
		object["ag_set"] = info ? Json(info->ag_set.str()) : Json();
		object["used_ags"] = used.str();
		list.push_back(std::move(object));
	}
	return list;
}

Json row_json(const FioShown &row)
{
	Json object = Json::object();

	object["role"] = row.role;
	object["iops"] = row.iops;
	object["iops_of_rounds"] = row.iops_of_rounds;
	object["bytes_per_second"] = row.bytes_per_second;
	Json &latency = object["latency_us"] = Json::object();
	latency["p50"] = or_null(row.p50);
	latency["p99"] = or_null(row.p99);
	latency["p99.9"] = or_null(row.p999);
	object["files"] = row.places.files;
	object["extents"] = row.places.extents;
	object["extents_per_file"] = row.places.extents_per_file();
	object["most_extents"] = row.places.most_extents;
	object["ags_per_stream"] = row.places.ags_per_stream();
	object["shared_ags"] = row.places.shared_ags();
	object["streams"] = streams_json(row);
	object["ratio"] = or_null(row.ratio);
	return object;
}

std::string rounds_text(const std::vector<FioSite> &sites)
{
	const std::size_t rounds = sites.front().rounds.size();

	return rounds == 1 ? "1 round" : fmt::format("medians of {} rounds", rounds);
}

BarChart chart(const std::string &job, const std::string &what, const std::string &unit,
	       bool logarithmic)
{
	return {.title = job + ": " + what,
		.unit = unit,
		.series = {},
		.groups = {},
		.logarithmic = logarithmic};
}

// Adds a site's bar to each group; the first site makes the groups.
void add_bars(BarChart &chart, const std::string &series, const std::vector<BarGroup> &bars)
{
	chart.series.push_back(series);
	if (chart.groups.empty())
		chart.groups.resize(bars.size());
	for (std::size_t i = 0; i < std::min(bars.size(), chart.groups.size()); i++) {
		chart.groups[i].label = bars[i].label;
		chart.groups[i].values.push_back(bars[i].values.front());
	}
}

} // namespace

void write_fio_table(std::ostream &out, const std::string &job, const std::vector<FioSite> &sites)
{
	std::size_t on = 2;
	std::size_t role = 4;

	for (const FioSite &site : sites) {
		on = std::max(on, site.name.size());
		for (const FioShown &row : site.shown)
			role = std::max(role, escape(row.role).size());
	}
	out << fmt::format("{}, {}\n", escape(job), rounds_text(sites));
	out << fmt::format("{:<{}}  {:<{}}  {:>8}  {:>7}  {:>7}  {:>7}  {:>8}  {:>8}  {:>10}  "
			   "{:>6}  {:>5}\n",
			   "ON", on, "ROLE", role, "IOPS", "MiB/s", "p50 us", "p99 us", "p99.9 us",
			   "EXT/FILE", "AGS/STREAM", "SHARED", "RATIO");
	for (const FioSite &site : sites) {
		for (const FioShown &row : site.shown)
			out << fmt::format(
				"{:<{}}  {:<{}}  {:>8.0f}  {:>7.1f}  {:>7}  {:>7}  {:>8}  "
				"{:>8.1f}  {:>10.1f}  {:>6}  {:>5}\n",
				site.name, on, escape(row.role), role, row.iops,
				row.bytes_per_second / mib, or_dash(row.p50, 0),
				or_dash(row.p99, 0), or_dash(row.p999, 0),
				row.places.extents_per_file(), row.places.ags_per_stream(),
				row.places.shared_ags(), or_dash(row.ratio, 2));
	}
}

void write_fio_json(const Context &context, const std::string &job,
		    const std::vector<FioSite> &sites)
{
	Json document = json_document(context);

	json_name(document, "job", job);
	document["rounds"] = sites.front().rounds.size();
	Json &list = document["sites"] = Json::array();
	for (const FioSite &site : sites) {
		Json object = Json::object();

		object["name"] = site.name;
		json_name(object, "dir", site.dir);
		object["major"] = major(site.device);
		object["minor"] = minor(site.device);
		object["streams"] = site.streams;
		Json &rows = object["rows"] = Json::array();
		for (const FioShown &row : site.shown)
			rows.push_back(row_json(row));
		list.push_back(std::move(object));
	}
	write_json(context.out, document);
}

void write_fio_svg(const std::string &dir, const std::string &job,
		   const std::vector<FioSite> &sites)
{
	BarChart iops = chart(job, "operations", "IOPS", false);
	BarChart latency = chart(job, "completion latency", "us", true);
	BarChart extents = chart(job, "extents of a file", "extents", true);
	std::error_code failed;

	std::filesystem::create_directories(dir, failed);
	if (failed)
		throw ws::Error(dir, "mkdir", failed.value());
	for (const FioSite &site : sites) {
		std::vector<BarGroup> operations;
		std::vector<BarGroup> pieces;

		for (const FioShown &row : site.shown) {
			operations.push_back({.label = row.role, .values = {row.iops}});
			pieces.push_back(
				{.label = row.role, .values = {row.places.extents_per_file()}});
		}
		// The last row is that of all jobs.
		const FioShown &all = site.shown.back();
		add_bars(iops, site.name, operations);
		add_bars(extents, site.name, pieces);
		add_bars(latency, site.name,
			 {{.label = "p50", .values = {all.p50.value_or(0)}},
			  {.label = "p99", .values = {all.p99.value_or(0)}},
			  {.label = "p99.9", .values = {all.p999.value_or(0)}}});
	}
	write_svg(dir + "/iops.svg", draw_bars(iops));
	write_svg(dir + "/latency.svg", draw_bars(latency));
	write_svg(dir + "/extents.svg", draw_bars(extents));
}

} // namespace wsctl
