// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <ws/error.h>
#include <ws/parse.h>

#include "ag_map.h"
#include "drawing.h"
#include "golden.h"

namespace
{

class Map : public testing::Test
{
protected:
	void SetUp() override
	{
		fake_.add_streams({"0-3", "4-7", "8-11", "12-15"}, 2);
		add("t/a", in_ag(0), 4096, 0);
		add("t/b", in_ag(2), 1024, 0);
		add("t/c", in_ag(4), 256, 1);
		add("t/stray", in_ag(9), 512, 1);
		add("u/plain", in_ag(15), 16, std::nullopt);
		fake_.add("u/rt", {.extents = {{.offset = 0, .block = 1, .length = 1}},
				   .xflags = FS_XFLAG_REALTIME});
	}
	void add(const std::string &name, std::uint64_t block, std::uint64_t length,
		 std::optional<std::uint32_t> stream)
	{
		fake_.add(name, {.extents = {{.offset = 0, .block = block, .length = length}},
				 .stream = stream});
	}

	FakeHost fake_;
};

TEST_F(Map, ShowsStreamsAgainstAgs)
{
	const auto ran = run_wsctl(fake_, {"map", "."});

	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("map.txt", ran.out);
	const auto coloured = run_wsctl(fake_, {"--color", "always", "map", "."});
	expect_golden("map-colour.txt", coloured.out);
}

TEST_F(Map, WritesJson)
{
	const auto ran = run_wsctl(fake_, {"map", "--json", "t", "u", "missing"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("map.json", ran.out);
}

TEST_F(Map, ShowsOperandsOnPlainXfs)
{
	fake_.kernel.type = FakeType::xfs;
	const auto ran = run_wsctl(fake_, {"map", "--by-operand", "t", "u"});
	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("map-operands.txt", ran.out);
}

TEST_F(Map, MakesRoomForManyAgs)
{
	fake_.kernel.ag_count = 1000;
	add("far", in_ag(999), 100, std::nullopt);
	expect_golden("map-large.txt", run_wsctl(fake_, {"map", "."}).out);
}

TEST_F(Map, DrawsItself)
{
	const auto ran = run_wsctl(fake_, {"map", "--svg", "x.svg", "--png", "x.png", "t", "u"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("map.svg", ws::read_file("x.svg"));
	const std::string png = ws::read_file("x.png");
	EXPECT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
	// The header's width and height.
	ASSERT_GT(png.size(), 24U);
	EXPECT_EQ(static_cast<unsigned char>(png[18]) * 256 + static_cast<unsigned char>(png[19]),
		  612);
}

TEST_F(Map, SaysThatADrawingDoesNotFit)
{
	const auto ran = run_wsctl(fake_, {"map", "--svg", "/dev/full", "t"});
	EXPECT_EQ(ran.status, 1);
	EXPECT_NE(ran.err.find("/dev/full: cannot be written in full"), std::string::npos);
	EXPECT_EQ(run_wsctl(fake_, {"map", "--png", "/dev/full", "t"}).status, 1);
	EXPECT_EQ(run_wsctl(fake_, {"map", "--svg", "missing/x", "t"}).status, 1);
	std::filesystem::create_directory("none");
	EXPECT_EQ(run_wsctl(fake_, {"map", "--svg", "x.svg", "none"}).status, 1);
}

TEST(Drawing, EscapesNames)
{
	const wsctl::Drawing drawing{
		.width = 10, .height = 10, .boxes = {}, .words = {{.text = "<a & \"b\">"}}};

	EXPECT_NE(wsctl::svg_text(drawing).find("&lt;a &amp; &quot;b&quot;&gt;"),
		  std::string::npos);
}

} // namespace
