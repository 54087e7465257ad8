// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "set_aside.h"

namespace
{

using wsctl::set_aside;

std::string text_of(std::string_view options, std::size_t streams, std::uint32_t id)
{
	const auto aside = set_aside(options, streams, id);

	return aside ? aside->text() : "";
}

TEST(SetAside, IsTheLastStreams)
{
	constexpr std::string_view options = "rw,streams=8,spread=all,hints=4,numbered=2";

	EXPECT_EQ(text_of(options, 8, 0), "");
	EXPECT_EQ(text_of(options, 8, 1), "");
	EXPECT_EQ(text_of(options, 8, 2), "hints: short");
	EXPECT_EQ(text_of(options, 8, 5), "hints: extreme");
	EXPECT_EQ(text_of(options, 8, 6), "number 1");
	EXPECT_EQ(text_of(options, 8, 7), "number 2");
	EXPECT_EQ(text_of(options, 8, 8), "");
	EXPECT_EQ(set_aside(options, 8, 5)->word(), "hints");
	EXPECT_EQ(set_aside(options, 8, 6)->word(), "numbered");
}

// The table in docs/interface.md.
TEST(SetAside, DealsOutHints)
{
	EXPECT_EQ(text_of("hints=1", 4, 3), "hints: short, medium, long, extreme");
	EXPECT_EQ(text_of("hints=2", 4, 2), "hints: short, medium");
	EXPECT_EQ(text_of("hints=2", 4, 3), "hints: long, extreme");
	EXPECT_EQ(text_of("hints=3", 4, 1), "hints: short, medium");
	EXPECT_EQ(text_of("hints=3", 4, 2), "hints: long");
	EXPECT_EQ(text_of("hints=3", 4, 3), "hints: extreme");
}

TEST(SetAside, IsNoneWithoutTheOptions)
{
	EXPECT_EQ(text_of("", 4, 3), "");
	EXPECT_EQ(text_of("rw,streams=4", 4, 3), "");
	// Others that are like them, and what no kernel shows.
	EXPECT_EQ(text_of("nohints=2,hints,hints=x", 4, 3), "");
	EXPECT_EQ(text_of("hints=4,numbered=4", 2, 2), "");
}

TEST(SetAside, IsToldInJson)
{
	EXPECT_EQ(wsctl::set_aside_json(set_aside("numbered=1", 2, 0)).dump(), "null");
	EXPECT_EQ(wsctl::set_aside_json(set_aside("numbered=1", 2, 1)).dump(),
		  R"({"hints":[],"number":1})");
	EXPECT_EQ(wsctl::set_aside_json(set_aside("hints=2", 2, 1)).dump(),
		  R"({"hints":["long","extreme"],"number":null})");
}

} // namespace
