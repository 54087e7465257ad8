// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "golden.h"

namespace
{

class Spread : public testing::Test
{
protected:
	void SetUp() override { ASSERT_EQ(mkdir("d", 0700), 0); }

	FakeHost fake_;
};

TEST_F(Spread, SaysHow)
{
	const std::vector<std::pair<std::string, __u32>> options = {
		{"", WSFS_DIR_SPREAD},
		{"--free", WSFS_DIR_SPREAD_FREE},
		{"--off", WSFS_DIR_NEAR},
		{"--default", WSFS_DIR_DEFAULT},
	};

	for (const auto &[option, how] : options) {
		std::vector<std::string> arguments = {"spread", "d"};

		if (!option.empty())
			arguments.push_back(option);
		const auto ran = run_wsctl(fake_, arguments);
		EXPECT_EQ(ran.status, 0) << ran.err;
		EXPECT_EQ(ran.out, "");
		ASSERT_FALSE(fake_.kernel.dir_places.empty());
		EXPECT_EQ(fake_.kernel.dir_places.back().how, how);
		EXPECT_EQ(fake_.kernel.dir_places.back().stream_fd, -1);
	}
}

TEST_F(Spread, TakesSeveral)
{
	ASSERT_EQ(mkdir("-e", 0700), 0);
	EXPECT_EQ(run_wsctl(fake_, {"spread", "d", "missing", "--", "-e"}).status, 1);
	EXPECT_EQ(fake_.kernel.dir_places.size(), 2U);
}

TEST_F(Spread, ReportsInJson)
{
	const auto ran = run_wsctl(fake_, {"spread", "--json", "d", "missing"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("spread.json", ran.out);
	expect_golden("spread-errors.txt", ran.err);
}

TEST_F(Spread, TakesOneOptionAndADirectory)
{
	EXPECT_EQ(run_wsctl(fake_, {"spread", "--off", "--free", "d"}).status, 2);
	EXPECT_EQ(run_wsctl(fake_, {"spread", "--default", "--off", "d"}).status, 2);
	EXPECT_TRUE(fake_.kernel.dir_places.empty());
}

TEST_F(Spread, SaysWhatTheKernelSaid)
{
	for (const int code : {EPERM, EBUSY, ENOTTY, EXDEV, ENOTDIR, EROFS}) {
		fake_.kernel.failures[WSFS_IOC_SET_DIR] = code;
		const auto ran = run_wsctl(fake_, {"spread", "d"});
		EXPECT_EQ(ran.status, 1);
		EXPECT_NE(ran.err.find("wsctl spread: d: WSFS_IOC_SET_DIR: "), std::string::npos);
		EXPECT_NE(ran.err.find("hint: "), std::string::npos);
	}
}

} // namespace
