// SPDX-License-Identifier: GPL-2.0
#include "scan.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "fake_host.h"
#include "progress.h"
#include "ring.h"

namespace
{

using testing::ElementsAre;
using wsctl::FoundFile;
using wsctl::OpenFile;

class ScanFiles : public testing::Test
{
protected:
	void SetUp() override { fake_.add_streams({"0-3", "4-7"}); }

	// Paths in the order in which they were handed over; errors begin with "!".
	std::vector<std::string> scan(std::vector<wsctl::Operand> operands)
	{
		std::vector<std::string> seen;
		wsctl::Progress progress(err_, false, "file");
		const ws::Host host = fake_.host();
		const wsctl::Context context{
			.host = host, .out = out_, .err = err_, .command = "test"};

		wsctl::scan<std::string>(
			context, std::move(operands), progress,
			[](const FoundFile &file, OpenFile &&open) {
				return file.path + (open.fd ? "" : " (closed)");
			},
			[&](const FoundFile &file, std::string &&result) {
				EXPECT_EQ(file.path, result);
				seen.push_back(std::move(result));
				if (each_)
					each_();
			},
			[&](const ws::Error &error) { seen.push_back("!" + error.path()); });
		return seen;
	}

	FakeHost fake_;
	std::ostringstream out_;
	std::ostringstream err_;
	std::function<void()> each_;
};

TEST_F(ScanFiles, KeepsTheOrderOfTheWalk)
{
	std::vector<std::string> expected;

	for (int dir = 0; dir < 20; dir++) {
		for (int file = 0; file < 100; file++) {
			expected.push_back(fmt::format("d/{:02}/{:03}", dir, file));
			FakeHost::write(expected.back(), "");
		}
	}
	EXPECT_EQ(scan({{.path = "d"}}), expected);
}

TEST_F(ScanFiles, ReadsLargeDirectoriesBlockByBlock)
{
	std::filesystem::create_directory("d");
	for (int file = 0; file < 10000; file++)
		FakeHost::write(fmt::format("d/{:05}", file), "");
	auto seen = scan({{.path = "d"}});
	EXPECT_EQ(seen.size(), 10000U);
	std::ranges::sort(seen);
	EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end());
}

TEST_F(ScanFiles, TellsOfOperandsThatAreMissing)
{
	FakeHost::write("a", "");
	FakeHost::write("d/x", "");
	EXPECT_THAT(scan({{.path = "a"}, {.path = "missing"}, {.path = "d"}, {.path = "."}}),
		    ElementsAre("a", "!missing", "d/x", "./a", "./d/x"));
}

TEST_F(ScanFiles, PassesOverWhatVanishes)
{
	for (int file = 0; file < 3000; file++)
		FakeHost::write(fmt::format("d/{:04}", file), "");
	each_ = [] { std::filesystem::remove_all("d"); };
	const auto seen = scan({{.path = "d"}});
	// Some were open already; nobody complains about the others.
	EXPECT_LT(seen.size(), 3000U);
	for (const std::string &path : seen)
		EXPECT_NE(path[0], '!') << path;
}

TEST_F(ScanFiles, DoesNotTakeAMissingSysfsForAVanishedFile)
{
	FakeHost::write("d/a", "");
	std::filesystem::remove_all(fake_.root / "sys");
	const auto seen = scan({{.path = "d"}});
	ASSERT_EQ(seen.size(), 1U);
	EXPECT_EQ(seen[0][0], '!');
}

TEST_F(ScanFiles, GetsByWithFewDescriptors)
{
	rlimit before{};
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	const rlimit few{.rlim_cur = 200, .rlim_max = before.rlim_max};
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);

	for (int file = 0; file < 2000; file++)
		FakeHost::write(fmt::format("d/{}/{}", file % 50, file), "");
	const auto seen = scan({{.path = "d"}});
	setrlimit(RLIMIT_NOFILE, &before);
	EXPECT_EQ(seen.size(), 2000U);
	EXPECT_TRUE(std::ranges::none_of(seen, [](const auto &path) { return path[0] == '!'; }));
}

TEST_F(ScanFiles, EndsWhenNobodyTakesTheOutput)
{
	for (int file = 0; file < 3000; file++)
		FakeHost::write(fmt::format("d/{}", file), "");
	each_ = [this] { out_.setstate(std::ios::badbit); };
	EXPECT_LT(scan({{.path = "d"}}).size(), 3000U);
}

TEST(Ring, OpensFilesAndSaysWhyNot)
{
	const FakeHost fake;
	const auto ring = wsctl::Ring::make(8);
	int good = 0;
	int bad = 0;
	int answers = 0;

	if (!ring)
		GTEST_SKIP() << "no io_uring here";
	FakeHost::write("a", "");
	ring->open(AT_FDCWD, "a", &good);
	ring->open(AT_FDCWD, "missing", &bad);
	EXPECT_EQ(ring->under_way(), 2U);
	ring->submit();
	while (answers < 2)
		ring->reap([&](void *token, int result) {
			answers++;
			*static_cast<int *>(token) = result;
		});
	EXPECT_GE(good, 0);
	EXPECT_EQ(bad, -ENOENT);
	close(good);
}

} // namespace
