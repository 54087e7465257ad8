// SPDX-License-Identifier: GPL-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "relocate_plan.h"

namespace
{

using testing::ElementsAre;
using testing::IsEmpty;
using wsctl::ag_order;
using wsctl::Batcher;
using wsctl::effort_of;
using wsctl::Piece;
using wsctl::RelocatePlan;
using wsctl::RelocatePlanner;
using wsctl::Stray;

constexpr std::uint64_t block = 4096;
constexpr std::uint64_t sectors = block / ws::sector_size;

struct Part {
	std::uint64_t offset; // in blocks
	std::uint64_t length;
	std::optional<std::uint32_t> ag; // none: a hole
	bool unwritten = false;
	bool shared = false;
};

ws::AgSet home(const char *text = "4-7")
{
	return ws::AgSet::parse(text).value();
}

RelocatePlan plan(const RelocatePlanner::Rules &rules, const std::vector<Part> &parts)
{
	RelocatePlanner planner(rules);

	for (const Part &part : parts) {
		ws::Extent extent{.offset = part.offset * sectors,
				  .length = part.length * sectors,
				  .sector = std::nullopt,
				  .unwritten = part.unwritten,
				  .shared = part.shared};

		if (part.ag)
			extent.sector = *part.ag * 1000;
		planner.add(extent, part.ag);
	}
	return std::move(planner).take();
}

TEST(RelocatePlan, TakesWhatLiesOutside)
{
	const auto got = plan({.home = home(), .size = 20 * block},
			      {{.offset = 0, .length = 2, .ag = 0},
			       {.offset = 2, .length = 1, .ag = 0},
			       {.offset = 3, .length = 1, .ag = 1},
			       {.offset = 4, .length = 4, .ag = 5},
			       {.offset = 8, .length = 2, .ag = std::nullopt},
			       {.offset = 10, .length = 10, .ag = 8}});

	EXPECT_THAT(got.strays,
		    ElementsAre(Stray{.offset = 0, .length = 3 * block, .ag = 0},
				Stray{.offset = 3 * block, .length = block, .ag = 1},
				Stray{.offset = 10 * block, .length = 10 * block, .ag = 8}));
	EXPECT_EQ(got.stray_bytes, 14 * block);
	EXPECT_EQ(got.from.str(), "0-1,8");
	EXPECT_EQ(got.own_block, 0U);
	EXPECT_FALSE(got.shares);
}

TEST(RelocatePlan, EndsWithTheFile)
{
	const auto got =
		plan({.home = home(), .size = 2 * block + 100},
		     {{.offset = 0, .length = 5, .ag = 0}, {.offset = 5, .length = 5, .ag = 1}});

	EXPECT_THAT(got.strays,
		    ElementsAre(Stray{.offset = 0, .length = 2 * block + 100, .ag = 0}));
	EXPECT_EQ(got.from.str(), "0");
}

TEST(RelocatePlan, LeavesPreallocatedAndSharedAlone)
{
	const std::vector<Part> parts = {
		{.offset = 0, .length = 1, .ag = 0, .shared = true},
		{.offset = 1, .length = 2, .ag = 1, .unwritten = true},
		{.offset = 3, .length = 1, .ag = 4, .unwritten = true},
		{.offset = 4, .length = 1, .ag = 2},
		{.offset = 5, .length = 3, .ag = 3, .unwritten = true, .shared = true}};
	const auto got = plan({.home = home(), .size = 8 * block}, parts);

	EXPECT_THAT(got.strays, ElementsAre(Stray{.offset = 4 * block, .length = block, .ag = 2}));
	EXPECT_EQ(got.shared_bytes, block);
	EXPECT_EQ(got.unwritten_bytes, 5 * block);
	EXPECT_EQ(got.left.str(), "0-1,3");
	EXPECT_TRUE(got.shares);
	EXPECT_EQ(got.own_block, 4 * block);

	const auto all = plan({.home = home(), .size = 8 * block, .shared = true}, parts);
	EXPECT_EQ(all.stray_bytes, 2 * block);
	EXPECT_EQ(all.shared_bytes, 0U);
	EXPECT_EQ(all.unwritten_bytes, 5 * block);
}

TEST(RelocatePlan, RemembersSoManyButCountsAll)
{
	const auto got = plan({.home = home(), .size = 100 * block, .most = 2},
			      {{.offset = 0, .length = 1, .ag = 0},
			       {.offset = 2, .length = 1, .ag = 0},
			       {.offset = 4, .length = 1, .ag = 0},
			       {.offset = 5, .length = 1, .ag = 0}});

	EXPECT_EQ(got.strays.size(), 2U);
	EXPECT_EQ(got.strays.back().length, block);
	EXPECT_TRUE(got.more);
	EXPECT_EQ(got.stray_bytes, 4 * block);
}

TEST(RelocatePlan, IsEmptyWhereAllIsHome)
{
	const auto got =
		plan({.home = home("0-15"), .size = block}, {{.offset = 0, .length = 1, .ag = 3}});

	EXPECT_THAT(got.strays, IsEmpty());
	EXPECT_THAT(plan({.home = home(), .size = 0}, {}).strays, IsEmpty());
}

TEST(Batcher, FillsADonorBlockByBlock)
{
	const std::vector<Stray> strays = {{.offset = 0, .length = 3 * block, .ag = 0},
					   {.offset = 8 * block, .length = block + 7, .ag = 1}};
	Batcher batcher(strays, block);
	auto batch = batcher.next(2 * block + 1);

	ASSERT_TRUE(batch);
	EXPECT_THAT(batch->pieces,
		    ElementsAre(Piece{.file_offset = 0, .donor_offset = 0, .length = 2 * block}));
	batch = batcher.next(100 * block);
	ASSERT_TRUE(batch);
	EXPECT_THAT(batch->pieces,
		    ElementsAre(Piece{.file_offset = 2 * block, .donor_offset = 0, .length = block},
				Piece{.file_offset = 8 * block,
				      .donor_offset = block,
				      .length = block + 7}));
	EXPECT_EQ(batch->bytes, 2 * block + 7);
	EXPECT_EQ(batch->donor_bytes, 3 * block);
	EXPECT_FALSE(batcher.next(block));
}

TEST(Batcher, GivesTheSameAgainInLess)
{
	const std::vector<Stray> strays = {{.offset = block, .length = 4 * block, .ag = 0}};
	Batcher batcher(strays, block);

	batcher.next(block);
	batcher.next(4 * block);
	batcher.again();
	const auto batch = batcher.next(1); // a block at least
	ASSERT_TRUE(batch);
	EXPECT_THAT(
		batch->pieces,
		ElementsAre(Piece{.file_offset = 2 * block, .donor_offset = 0, .length = block}));
}

TEST(Effort, GetsSmallerAndKeepsToTheRate)
{
	for (unsigned number = 1; number < wsctl::relocate_tries + 2; number++) {
		const auto before = effort_of(number - 1, 0, block);
		const auto now = effort_of(number, 0, block);

		EXPECT_LE(now.batch, before.batch);
		EXPECT_LE(now.exchange, now.batch);
		EXPECT_EQ(now.batch % block, 0U);
	}
	EXPECT_EQ(effort_of(0, 1 << 20, block).batch, 256U << 10U);
	EXPECT_EQ(effort_of(0, 1, block).batch, block);
	EXPECT_EQ(effort_of(5, 0, 65536).exchange, 65536U);
}

TEST(AgOrder, BeginsWhereTheFileIsAtHomeOrTakesTurns)
{
	EXPECT_THAT(ag_order(home("4-6,9"), 6, 1), ElementsAre(6, 9, 4, 5));
	EXPECT_THAT(ag_order(home("4-6,9"), 1, 1), ElementsAre(5, 6, 9, 4));
	EXPECT_THAT(ag_order(home("4-6,9"), std::nullopt, 7), ElementsAre(9, 4, 5, 6));
	EXPECT_THAT(ag_order({}, 1, 1), IsEmpty());
}

} // namespace
