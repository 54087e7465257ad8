// SPDX-License-Identifier: GPL-2.0
#include <ws/geometry.h>

#include <gtest/gtest.h>

namespace
{

TEST(Groups, DividesTheDevice)
{
	const ws::Groups groups{.count = 16, .sectors = 131072};

	EXPECT_EQ(groups.group_of(0), 0U);
	EXPECT_EQ(groups.group_of(131071), 0U);
	EXPECT_EQ(groups.group_of(131072), 1U);
	EXPECT_EQ(groups.group_of(16UL * 131072 - 1), 15U);
	EXPECT_EQ(groups.offset_of(131072 + 5), 5U);
}

TEST(Groups, KnowsNothingBehindTheLast)
{
	const ws::Groups groups{.count = 16, .sectors = 131072};

	EXPECT_FALSE(groups.group_of(16UL * 131072));
	EXPECT_FALSE(groups.group_of(~std::uint64_t{0}));
}

TEST(Groups, MayBeNone)
{
	const ws::Groups groups;

	EXPECT_FALSE(groups.group_of(0));
	EXPECT_EQ(groups.offset_of(17), 0U);
}

} // namespace
