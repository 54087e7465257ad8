// SPDX-License-Identifier: GPL-2.0
#include <ws/sysfs.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ws/error.h>

#include "fake_host.h"

namespace
{

using testing::ElementsAre;

TEST(ReadDevice, ReadsEveryStream)
{
	FakeHost fake;

	fake.add_streams({"0-3", "4-7", "8-11,16-17", "12-15,18"}, 2);
	fake.write(fake.root / "sys/nvme0n1p1/hints_reset", "3\n");
	const auto state = ws::read_device(fake.host(), "nvme0n1p1");
	EXPECT_EQ(state.lower, "xfs");
	EXPECT_EQ(state.hints_reset, 3U);
	EXPECT_EQ(state.reserved(), 2U);
	ASSERT_EQ(state.streams.size(), 4U);
	EXPECT_EQ(state.streams[2].ag_set.str(), "8-11,16-17");
	EXPECT_TRUE(state.streams[1].reserved);
	EXPECT_FALSE(state.streams[2].reserved);
	EXPECT_EQ(state.streams[3].files, 3U);
	EXPECT_EQ(state.streams[3].homed, 30U);
	EXPECT_EQ(state.streams[3].missed, 1U);
	EXPECT_EQ(state.streams[3].anchored, 300U);
	EXPECT_EQ(state.streams[3].overflowed, 0U);
	EXPECT_TRUE(state.streams[3].overflow_order.empty());
	EXPECT_EQ(state.streams[2].overflowed, 5U);
	EXPECT_EQ(state.streams[2].overflow_order, (std::vector<std::uint32_t>{3, 1, 0}));
	EXPECT_EQ(state.streams[3].bytes, 12288U);
}

TEST(ReadDevice, KnowsTheOwners)
{
	FakeHost fake;

	// More streams than AGs: several own the same one.
	fake.add_streams({"0", "1", "0", "1", "0"});
	const auto state = ws::read_device(fake.host(), "nvme0n1p1");
	EXPECT_THAT(state.owners_of(0), ElementsAre(0, 2, 4));
	EXPECT_THAT(state.owners_of(1), ElementsAre(1, 3));
	EXPECT_THAT(state.owners_of(2), ElementsAre());
	EXPECT_EQ(state.find(4)->id, 4U);
	EXPECT_EQ(state.find(5), nullptr);
}

TEST(ReadDevice, RefusesMalformedFiles)
{
	const struct {
		const char *file;
		const char *text;
	} cases[] = {
		{.file = "hints_reset", .text = "many\n"},
		{.file = "streams", .text = "1025\n"},
		{.file = "stream/0/ag_set", .text = "3-1\n"},
		{.file = "stream/0/overflow_order", .text = "1 x\n"},
		{.file = "stream/0/reserved", .text = "2\n"},
		{.file = "stream/0/files", .text = "\n"},
		{.file = "stream/0/homed", .text = "-1\n"},
	};

	for (const auto &[file, text] : cases) {
		FakeHost fake;
		const auto path = fake.root / "sys/nvme0n1p1" / file;

		fake.add_streams({"0-15"});
		fake.write(path, text);
		try {
			ws::read_device(fake.host(), "nvme0n1p1");
			ADD_FAILURE() << file;
		} catch (const ws::Error &error) {
			EXPECT_EQ(error.path(), path.string());
			EXPECT_NE(error.advice(), "");
		}
	}
}

TEST(ReadDevice, RefusesMissingFiles)
{
	FakeHost fake;

	EXPECT_THROW(ws::read_device(fake.host(), "nvme0n1p1"), ws::Error);
	fake.add_streams({"0-15"});
	std::filesystem::remove(fake.root / "sys/nvme0n1p1/stream/0/missed");
	EXPECT_THROW(ws::read_device(fake.host(), "nvme0n1p1"), ws::Error);
}

TEST(ReadDevice, StaysBelowItsDirectory)
{
	FakeHost fake;

	fake.add_streams({"0-15"});
	for (const char *dev : {"", ".", "..", "nvme0n1p1/stream", "../sys/nvme0n1p1"})
		EXPECT_THROW(ws::read_device(fake.host(), dev), ws::Error) << dev;
}

} // namespace
