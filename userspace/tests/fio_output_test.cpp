// SPDX-License-Identifier: GPL-2.0
// fio's JSON, and what is made of it.
#include "fio_output.h"

#include <gtest/gtest.h>

#include <ws/error.h>

#include "fio_samples.h"

namespace
{

TEST(FioOutput, IsRead)
{
	const auto rows = wsctl::parse_fio_output(fio_sample, "out");

	ASSERT_EQ(rows.size(), 2U);
	EXPECT_EQ(rows[0].name, "wal");
	EXPECT_EQ(rows[0].operations, 3000U);
	EXPECT_DOUBLE_EQ(rows[0].iops(), 1500);
	EXPECT_DOUBLE_EQ(rows[0].bytes_per_second(), 1500 * 4096.0);
	EXPECT_DOUBLE_EQ(*rows[0].p99, 500);
	EXPECT_EQ(rows[1].name, "flush");
}

TEST(FioOutput, MakesATotal)
{
	const auto total = wsctl::total_of(wsctl::parse_fio_output(fio_sample, "out"));

	// Over the time of the longest.
	EXPECT_DOUBLE_EQ(total.seconds, 4);
	EXPECT_DOUBLE_EQ(total.iops(), (3000 + 400) / 4.0);
	EXPECT_DOUBLE_EQ(*total.p50, 70);
	EXPECT_DOUBLE_EQ(*total.p999, 900);
	EXPECT_DOUBLE_EQ(wsctl::total_of({}).iops(), 0);
}

TEST(FioOutput, TakesJobsOfARoleTogether)
{
	const auto rows = wsctl::parse_fio_output(
		R"({"jobs":[
		{"jobname":"w.0","error":0,
		 "read":{"total_ios":10,"io_bytes":10,"runtime":1000},
		 "write":{"total_ios":20,"io_bytes":20,"runtime":2000,
		  "lat_ns":{"percentile":{"50.000000":3000}}}},
		{"jobname":"w.1","error":0,
		 "write":{"total_ios":10,"io_bytes":10,"runtime":0}},
		{"jobname":"w.x","error":0}]})",
		"out");

	ASSERT_EQ(rows.size(), 2U);
	EXPECT_EQ(rows[0].operations, 40U);
	EXPECT_DOUBLE_EQ(rows[0].seconds, 2);
	EXPECT_DOUBLE_EQ(*rows[0].p50, 3);
	EXPECT_FALSE(rows[0].p99);
	EXPECT_EQ(rows[1].name, "w.x");
	EXPECT_DOUBLE_EQ(rows[1].iops(), 0);
}

TEST(FioOutput, PassesOverChatter)
{
	const std::string text =
		"note: {both} iodepth >= 1\n" + std::string(fio_sample) + "fio: {bye}\n";

	EXPECT_EQ(wsctl::parse_fio_output(text, "out").size(), 2U);
}

// @text with @from replaced.
std::string sample_with(const std::string &from, const std::string &to)
{
	std::string text = fio_sample;
	const auto at = text.find(from);

	EXPECT_NE(at, std::string::npos) << from;
	return text.replace(at, from.size(), to);
}

TEST(FioOutput, SaysWhichJobFailed)
{
	try {
		wsctl::parse_fio_output(sample_with(R"("error" : 0)", R"("error" : 28)"), "out");
		FAIL() << "it was read";
	} catch (const ws::Error &error) {
		EXPECT_NE(error.reason().find("wal.0"), std::string::npos) << error.reason();
		EXPECT_NE(error.reason().find("ENOSPC"), std::string::npos) << error.reason();
	}
}

TEST(FioOutput, RefusesWhatIsNotFios)
{
	const std::vector<std::string> bad{
		"",
		"fio: no such job",
		"{",
		"{}",
		"[{}]",
		"x{\"jobs\":[]}",
		R"({"jobs":[]})",
		R"({"jobs":3})",
		R"({"jobs":{"a":1}})",
		R"({"jobs":[{}]})",
		R"({"jobs":[null]})",
		R"({"jobs":[{"jobname":7,"error":0}]})",
		R"({"jobs":[{"jobname":"w"}]})",
		R"({"jobs":[{"jobname":"w","error":"none"}]})",
		R"({"jobs":[{"jobname":"w","error":0,"write":[]}]})",
		"{\"jobs\":[{\"jobname\":\"\xff\",\"error\":0}]}",
		sample_with(R"("total_ios" : 3000)", R"("total_ios" : -3)"),
		sample_with(R"("total_ios" : 3000)", R"("total_ios" : 1e30)"),
		sample_with(R"("total_ios" : 3000)", R"("total_ios" : 1e999)"),
		sample_with(R"("total_ios" : 3000)", R"("total_ios" : nan)"),
		sample_with(R"("total_ios" : 3000)", R"("total_ios" : true)"),
		sample_with(R"("runtime" : 2000)", R"("runtime" : null)"),
		sample_with(R"("99.000000" : 500000)", R"("99.000000" : "slow")"),
		std::string(100000, '['),
		"{\"jobs\":" + std::string(100000, '['),
		std::string(fio_sample).substr(0, 200),
	};

	for (const std::string &text : bad)
		EXPECT_THROW(wsctl::parse_fio_output(text, "out"), ws::Error)
			<< text.substr(0, 200);
}

} // namespace
