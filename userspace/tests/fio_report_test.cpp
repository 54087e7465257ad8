// SPDX-License-Identifier: GPL-2.0
// What "wsctl fio run" shows.
#include "fio_result.h"

#include <sstream>

#include <sys/sysmacros.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <ws/error.h>
#include <ws/parse.h>

#include "bar_chart.h"
#include "fio_progress.h"
#include "fio_samples.h"
#include "golden.h"

namespace
{

ws::AgSet ag_set(const char *text)
{
	return ws::AgSet::parse(text).value();
}

TEST(FioPlaces, CountsAgs)
{
	wsctl::FioPlaces places;

	EXPECT_DOUBLE_EQ(places.extents_per_file(), 0);
	EXPECT_DOUBLE_EQ(places.ags_per_stream(), 0);
	places.files = 2;
	places.extents = 7;
	places.ags = {{0, ag_set("1-2")}, {1, ag_set("2-4")}, {std::nullopt, ag_set("4")}};
	EXPECT_DOUBLE_EQ(places.extents_per_file(), 3.5);
	EXPECT_DOUBLE_EQ(places.ags_per_stream(), 2);
	EXPECT_EQ(places.shared_ags(), 2U);
}

wsctl::FioResult round_of(std::uint64_t operations, std::uint64_t extents)
{
	wsctl::FioResult result;
	wsctl::FioRow row;

	row.name = "w";
	row.operations = operations;
	row.seconds = 1;
	row.p99 = static_cast<double>(100 - operations);
	result.rows.push_back(row);
	result.places.roles["w"].extents = extents;
	result.places.all.extents = extents;
	return result;
}

TEST(FioResult, TakesTheMiddle)
{
	std::vector<wsctl::FioSite> sites(2);

	sites[0].rounds = {round_of(10, 5), round_of(30, 9), round_of(20, 7)};
	sites[1].rounds = {round_of(80, 1), round_of(40, 2)};
	wsctl::summarize(sites);
	const wsctl::FioShown &base = sites[0].shown.at(0);
	const wsctl::FioShown &other = sites[1].shown.at(0);

	EXPECT_DOUBLE_EQ(base.iops, 20);
	EXPECT_DOUBLE_EQ(*base.p99, 80);
	EXPECT_FALSE(base.p50);
	EXPECT_EQ(base.places.extents, 7U);
	EXPECT_DOUBLE_EQ(*base.ratio, 1);
	EXPECT_DOUBLE_EQ(other.iops, 60);
	EXPECT_EQ(other.places.extents, 1U);
	EXPECT_DOUBLE_EQ(*other.ratio, 3);
	// One role needs no total.
	EXPECT_EQ(sites[0].shown.size(), 1U);
}

TEST(FioResult, HasNoRatioToNothing)
{
	std::vector<wsctl::FioSite> alone(1);
	std::vector<wsctl::FioSite> nothing(2);

	alone[0].rounds = {round_of(10, 5)};
	wsctl::summarize(alone);
	EXPECT_FALSE(alone[0].shown.at(0).ratio);
	nothing[0].rounds = {round_of(0, 5)};
	nothing[1].rounds = {round_of(7, 5)};
	wsctl::summarize(nothing);
	EXPECT_FALSE(nothing[1].shown.at(0).ratio);
}

std::vector<wsctl::FioSite> sample_sites()
{
	std::vector<wsctl::FioSite> sites{
		{.name = "plain XFS", .dir = "/mnt/xfs", .device = makedev(259, 1)},
		{.name = "wsfs", .dir = "/mnt/\xff", .device = makedev(259, 1), .streams = true}};

	for (wsctl::FioSite &site : sites) {
		wsctl::FioResult result;

		result.rows = wsctl::parse_fio_output(fio_sample, "out");
		result.places.roles["wal"] = {
			.files = 1, .extents = 3, .most_extents = 3, .ags = {{0, ag_set("0")}}};
		result.places.roles["flush"] = {
			.files = 2, .extents = 40, .most_extents = 30, .ags = {{1, ag_set("0-1")}}};
		result.places.all = {.files = 3,
				     .extents = 43,
				     .most_extents = 30,
				     .ags = {{0, ag_set("0")}, {1, ag_set("0-1")}}};
		site.rounds = {result, result, result};
	}
	for (wsctl::FioResult &round : sites[1].rounds) {
		wsctl::FioPlaces &flush = round.places.roles["flush"];

		for (wsctl::FioRow &row : round.rows)
			row.seconds /= 1.5;
		flush = {.files = 2, .extents = 2, .most_extents = 1, .ags = {{1, ag_set("8-9")}}};
		round.places.all.extents = 5;
		round.places.all.ags[1] = ag_set("8-9");
		round.streams = {ws::StreamFdInfo{.id = 2, .ag_set = ag_set("0-3"), .dev = ""},
				 std::nullopt};
	}
	wsctl::summarize(sites);
	return sites;
}

TEST(FioReport, IsATable)
{
	std::ostringstream out;

	wsctl::write_fio_table(out, "lsm.fio", sample_sites());
	expect_golden("fio-run.txt", out.str());
}

TEST(FioReport, IsJson)
{
	FakeHost fake;
	std::ostringstream out;
	const wsctl::Context context{
		.host = fake.host(), .out = out, .err = out, .command = "fio run"};

	wsctl::write_fio_json(context, "lsm.fio", sample_sites());
	expect_golden("fio-run.json", out.str());
}

TEST(FioReport, IsDrawn)
{
	const FakeHost fake;

	wsctl::write_fio_svg("plots/here", "l<s>m & co", sample_sites());
	for (const std::string name : {"iops", "latency", "extents"})
		expect_golden("fio-run-" + name + ".svg",
			      ws::read_file("plots/here/" + name + ".svg"));
	EXPECT_THROW(wsctl::write_fio_svg("/dev/null/x", "job", sample_sites()), ws::Error);
}

TEST(BarChart, DrawsNothingAndZero)
{
	const wsctl::BarChart zero{.title = "t",
				   .unit = "u",
				   .series = {"a"},
				   .groups = {{.label = "g", .values = {0}}},
				   .logarithmic = true};
	const auto drawing = wsctl::draw_bars(zero);

	EXPECT_NE(wsctl::svg_text(wsctl::draw_bars({})).find("</svg>"), std::string::npos);
	EXPECT_EQ(wsctl::svg_text(drawing).find("nan"), std::string::npos);
	EXPECT_DOUBLE_EQ(drawing.boxes.back().height, 0);
}

TEST(BarChart, IsToScale)
{
	wsctl::BarChart chart{.title = "t",
			      .unit = "u",
			      .series = {"a", "b"},
			      .groups = {{.label = "g", .values = {50, 100}}}};
	const auto linear = wsctl::draw_bars(chart).boxes;

	EXPECT_DOUBLE_EQ(linear.back().height, 2 * linear.at(linear.size() - 2).height);
	chart.logarithmic = true;
	chart.groups[0].values = {1, 100};
	const auto logarithmic = wsctl::draw_bars(chart).boxes;
	// From 0.1 on, so that 1 is seen.
	EXPECT_DOUBLE_EQ(logarithmic.back().height,
			 3 * logarithmic.at(logarithmic.size() - 2).height);
}

TEST(FioProgress, TellsRateAndTimeLeft)
{
	wsctl::FioPlan plan;

	EXPECT_EQ(wsctl::fio_progress_text("wsfs", plan, 4 << 20, 2), "wsfs: 4 MiB, 2.0 MiB/s");
	plan.bytes = 16 << 20;
	EXPECT_EQ(wsctl::fio_progress_text("wsfs", plan, 4 << 20, 2),
		  "wsfs: 4 MiB, 2.0 MiB/s, 0:06 left");
	plan.seconds = 4;
	EXPECT_EQ(wsctl::fio_progress_text("wsfs", plan, 4 << 20, 2),
		  "wsfs: 4 MiB, 2.0 MiB/s, 0:02 left");
}

} // namespace
