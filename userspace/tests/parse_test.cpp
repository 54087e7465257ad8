// SPDX-License-Identifier: GPL-2.0
#include <ws/parse.h>

#include <cerrno>

#include <gtest/gtest.h>

#include <ws/error.h>

#include "fake_host.h"

namespace
{

TEST(ParseNumber, TakesAllOfTheText)
{
	EXPECT_EQ(ws::parse_number("0"), 0U);
	EXPECT_EQ(ws::parse_number("18446744073709551615"), 18446744073709551615U);
	for (const char *text : {"", " 1", "1 ", "1x", "-1", "+1", "0x1", "18446744073709551616"})
		EXPECT_FALSE(ws::parse_number(text)) << text;
}

TEST(ParseNumber, KeepsToItsBounds)
{
	EXPECT_EQ(ws::parse_number("1024", 1024), 1024U);
	EXPECT_FALSE(ws::parse_number("1025", 1024));
	EXPECT_EQ(ws::parse_id("4294967295"), 4294967295U);
	EXPECT_FALSE(ws::parse_id("4294967296"));
}

TEST(Trim, TakesWhiteSpaceFromBothEnds)
{
	EXPECT_EQ(ws::trim("\t 8 9 \n"), "8 9");
	EXPECT_EQ(ws::trim(" \n"), "");
	EXPECT_EQ(ws::trim(""), "");
}

TEST(ReadFile, ReadsMoreThanOneBuffer)
{
	const FakeHost fake;
	const std::string text(10000, 'x');

	fake.write("large", text);
	EXPECT_EQ(ws::read_file("large"), text);
}

TEST(ReadFile, SaysWhatIsMissing)
{
	try {
		ws::read_file("/nonexistent/file");
		FAIL();
	} catch (const ws::Error &error) {
		EXPECT_EQ(error.path(), "/nonexistent/file");
		EXPECT_EQ(error.call(), "open");
		EXPECT_EQ(error.code(), ENOENT);
	}
}

} // namespace
