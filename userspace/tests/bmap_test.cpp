// SPDX-License-Identifier: GPL-2.0
#include <algorithm>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.h"

namespace
{

class Bmap : public testing::Test
{
protected:
	void SetUp() override
	{
		fake_.add_streams({"0-3", "4-7", "8-11", "12-15"}, 2);
		fake_.add("a.dat",
			  {.extents = {{.offset = 0, .block = in_ag(5, 24), .length = 256}},
			   .stream = 1,
			   .home_ag = 5});
		fake_.add("stray.dat",
			  {.extents = {{.offset = 2, .block = in_ag(4, 24), .length = 1},
				       {.offset = 3,
					.block = in_ag(9),
					.length = 1,
					.flags = FIEMAP_EXTENT_UNWRITTEN},
				       {.offset = 8,
					.block = in_ag(7, 16383),
					.length = 1,
					.flags = FIEMAP_EXTENT_SHARED | FIEMAP_EXTENT_UNWRITTEN}},
			   .stream = 1,
			   .home_ag = 4},
			  16 * fake_block);
		fake_.add("released.dat",
			  {.extents = {{.offset = 0, .block = in_ag(12, 1), .length = 1}}});
		fake_.add("empty.dat", {.extents = {}, .stream = 1});
		fake_.add("odd\n\xff",
			  {.extents = {{.offset = 0, .block = in_ag(1), .length = 1}}});
	}

	FakeHost fake_;
};

TEST_F(Bmap, ShowsWhereDataLies)
{
	const auto ran = run_wsctl(
		fake_, {"bmap", "a.dat", "stray.dat", "released.dat", "empty.dat", "odd\n\xff"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.err, "");
	expect_golden("bmap.txt", ran.out);
}

TEST_F(Bmap, WritesJson)
{
	const auto ran = run_wsctl(fake_, {"bmap", "--json", "a.dat", "stray.dat", "released.dat",
					   "empty.dat", "odd\n\xff", "missing"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("bmap.json", ran.out);
}

TEST_F(Bmap, ExplainsItsColumns)
{
	expect_golden("bmap-legend.txt", run_wsctl(fake_, {"bmap", "--legend", "a.dat"}).out);
}

TEST_F(Bmap, MakesRoomForLargeNumbers)
{
	fake_.kernel.ag_count = 200000;
	fake_.add("large.dat",
		  {.extents = {{.offset = 0, .block = in_ag(123456, 3), .length = 12000},
			       {.offset = 10000000, .block = in_ag(1), .length = 1}}});
	expect_golden("bmap-large.txt", run_wsctl(fake_, {"bmap", "large.dat"}).out);
}

TEST_F(Bmap, KnowsStripes)
{
	fake_.kernel.stripe_unit = 4;
	fake_.kernel.stripe_width = 16;
	fake_.add("s.dat", {.extents = {{.offset = 0, .block = in_ag(1, 16), .length = 16},
					{.offset = 16, .block = in_ag(2, 4), .length = 8},
					{.offset = 24, .block = in_ag(3, 1), .length = 1}}});
	expect_golden("bmap-stripes.txt", run_wsctl(fake_, {"bmap", "s.dat"}).out);
}

TEST_F(Bmap, ShowsAllOwnersOfAnAg)
{
	fake_.add_streams({"5", "6", "5", "6", "5"});
	expect_golden("bmap-owners.txt", run_wsctl(fake_, {"bmap", "a.dat"}).out);
}

TEST_F(Bmap, WorksOnPlainXfs)
{
	fake_.kernel.type = FakeType::xfs;
	const auto ran = run_wsctl(fake_, {"bmap", "stray.dat"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("bmap-xfs.txt", ran.out);
}

TEST_F(Bmap, ShowsRealtimeFiles)
{
	fake_.add("rt.dat", {.extents = {{.offset = 0, .block = 3 * 8192 + 5, .length = 1}},
			     .stream = std::nullopt,
			     .xflags = FS_XFLAG_REALTIME});
	const auto plain = run_wsctl(fake_, {"bmap", "rt.dat"});
	fake_.kernel.rt_groups = 4;
	const auto groups = run_wsctl(fake_, {"bmap", "rt.dat"});
	expect_golden("bmap-realtime.txt", plain.out + groups.out);
}

TEST_F(Bmap, IsRedWhereDataStrays)
{
	const std::string red = "\x1b[1;31mSTRAY\x1b[0m";

	EXPECT_NE(run_wsctl(fake_, {"bmap", "stray.dat"}, true).out.find(red), std::string::npos);
	EXPECT_NE(run_wsctl(fake_, {"--color", "always", "bmap", "stray.dat"}).out.find(red),
		  std::string::npos);
	EXPECT_NE(run_wsctl(fake_, {"bmap", "--color=always", "stray.dat"}).out.find(red),
		  std::string::npos);
	EXPECT_EQ(run_wsctl(fake_, {"bmap", "stray.dat"}).out.find('\x1b'), std::string::npos);
	EXPECT_EQ(
		run_wsctl(fake_, {"bmap", "--color", "never", "stray.dat"}, true).out.find('\x1b'),
		std::string::npos);
}

TEST_F(Bmap, GoesOnAfterAnError)
{
	ASSERT_EQ(mkfifo("fifo", 0600), 0);
	const auto ran = run_wsctl(fake_, {"bmap", "missing", "fifo", "a.dat"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_TRUE(ran.out.starts_with("a.dat:\n")) << ran.out;
	expect_golden("bmap-errors.txt", ran.err);
}

TEST_F(Bmap, SearchesDirectories)
{
	EXPECT_EQ(run_wsctl(fake_, {"bmap", "."}).out,
		  run_wsctl(fake_, {"bmap", "./a.dat", "./empty.dat", "./odd\n\xff",
				    "./released.dat", "./stray.dat"})
			  .out);
}

// More rows than are remembered: the file is gone through twice.
TEST_F(Bmap, ShowsFilesOfManyExtents)
{
	FakeFile file;

	for (std::uint64_t i = 0; i < 5000; i++)
		file.extents.push_back({.offset = i, .block = in_ag(4, 2 * i), .length = 1});
	fake_.add("many", file);
	const auto ran = run_wsctl(fake_, {"bmap", "many"});
	EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 5002);
	EXPECT_NE(ran.out.find("\n4999: [39992..39999]:"), std::string::npos);
	const auto json = run_wsctl(fake_, {"bmap", "--json", "many"});
	const auto document = nlohmann::json::parse(json.out);
	EXPECT_EQ(document["files"][0]["extents"].size(), 5000U);
	EXPECT_EQ(document["files"][0]["extents"][4999]["index"], 4999);
}

TEST_F(Bmap, NeedsAFile)
{
	EXPECT_EQ(run_wsctl(fake_, {"bmap"}).status, 2);
}

} // namespace
