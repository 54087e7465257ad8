// SPDX-License-Identifier: GPL-2.0
#include <ws/ag_set.h>

#include <initializer_list>

#include <gtest/gtest.h>

namespace
{

TEST(AgSet, ParsesRanges)
{
	const auto set = ws::AgSet::parse("8-11,32-33,40\n");

	ASSERT_TRUE(set);
	EXPECT_EQ(set->str(), "8-11,32-33,40");
	EXPECT_EQ(set->size(), 7U);
	EXPECT_FALSE(set->contains(7));
	EXPECT_TRUE(set->contains(8));
	EXPECT_TRUE(set->contains(11));
	EXPECT_FALSE(set->contains(12));
	EXPECT_TRUE(set->contains(33));
	EXPECT_FALSE(set->contains(34));
	EXPECT_TRUE(set->contains(40));
}

TEST(AgSet, JoinsNeighbours)
{
	EXPECT_EQ(ws::AgSet::parse("0-3,4-7")->str(), "0-7");
}

TEST(AgSet, MayBeEmpty)
{
	const auto set = ws::AgSet::parse("\n");

	ASSERT_TRUE(set);
	EXPECT_TRUE(set->empty());
	EXPECT_FALSE(set->contains(0));
}

TEST(AgSet, HoldsTheLargestNumber)
{
	const auto set = ws::AgSet::parse("0-4294967295");

	ASSERT_TRUE(set);
	EXPECT_TRUE(set->contains(4294967295));
	EXPECT_EQ(set->size(), 4294967296U);
}

TEST(AgSet, RefusesWhatIsNoList)
{
	for (const char *text : {"a", "1-", "-1", "3-1", "1,", ",1", "1,,2", "4-7,0-3", "1-3,3-4",
				 "4294967296", "1 2", "0x10", "1-2-3", "+1"})
		EXPECT_FALSE(ws::AgSet::parse(text)) << text;
}

TEST(AgSet, AddsInAnyOrder)
{
	ws::AgSet set;

	for (const std::uint32_t agno : {5U, 3U, 9U, 4U, 4U, 1U, 10U, 2U})
		set.add(agno);
	EXPECT_EQ(set.str(), "1-5,9-10");
	EXPECT_EQ(set, *ws::AgSet::parse("1-5,9-10"));
}

} // namespace
