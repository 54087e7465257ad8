// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "rate.h"

namespace
{

using wsctl::parse_rate;
using wsctl::pause_for;

TEST(Rate, HasTheUnitsOfFio)
{
	EXPECT_EQ(parse_rate("4096"), 4096U);
	EXPECT_EQ(parse_rate("1b"), 1U);
	EXPECT_EQ(parse_rate("64k"), 64U << 10U);
	EXPECT_EQ(parse_rate("100M"), 100U << 20U);
	EXPECT_EQ(parse_rate("100m"), 100U << 20U);
	EXPECT_EQ(parse_rate("3MB"), 3U << 20U);
	EXPECT_EQ(parse_rate("2GiB"), std::uint64_t{2} << 30U);
	EXPECT_EQ(parse_rate("1t"), std::uint64_t{1} << 40U);
	EXPECT_EQ(parse_rate("3B"), 3U);
	EXPECT_EQ(parse_rate("8191P"), std::uint64_t{8191} << 50U);
}

TEST(Rate, IsStrict)
{
	for (const char *text : {"", "0", "0M", "M", "-1", "1.5M", "1 M", "1x", "1Mi", "1Mib/s",
				 "16384P", "99999999999999999999", "1kk", "b", "1bb"})
		EXPECT_EQ(parse_rate(text), std::nullopt) << text;
}

TEST(Rate, SaysHowLongToWait)
{
	EXPECT_EQ(pause_for(0, 1000000, 0), 0);
	EXPECT_DOUBLE_EQ(pause_for(100, 300, 1), 2);
	EXPECT_EQ(pause_for(100, 300, 4), 0);
}

} // namespace
