// SPDX-License-Identifier: GPL-2.0
// wsctl run, with streams that are descriptors of /dev/null.
#include <cerrno>
#include <regex>

#include <gtest/gtest.h>

#include <ws/parse.h>

#include "golden.h"

namespace
{

// Their numbers differ from run to run.
std::string without_descriptors(const std::string &text)
{
	return std::regex_replace(text, std::regex("\"fd\": [0-9]+"), "\"fd\": 99");
}

TEST(Run, HandsItsStreamsOn)
{
	FakeHost fake;
	const std::string script = R"(
		exec >seen
		echo $WSFS_STREAMS $WSFS_STREAM_IDS
		IFS=,
		set -- $WSFS_STREAM_FDS
		echo $#
		for fd
		do
			readlink /proc/self/fd/$fd
		done)";
	const auto ran = run_wsctl(fake, {"run", "-n", "3", ".", "--", "sh", "-c", script});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ws::read_file("seen"), "3 3,2,1\n3\n/dev/null\n/dev/null\n/dev/null\n");
}

TEST(Run, ReturnsTheStatusOfTheCommand)
{
	FakeHost fake;

	EXPECT_EQ(run_wsctl(fake, {"run", ".", "--", "sh", "-c", "exit 9"}).status, 9);
	EXPECT_EQ(run_wsctl(fake, {"run", ".", "--", "sh", "-c", "kill $$"}).status, 128 + 15);
}

TEST(Run, PassesDoubleDashesOn)
{
	FakeHost fake;

	EXPECT_EQ(run_wsctl(fake, {"run", ".", "--", "sh", "-c", "test \"$*\" = '-- b --'", "a",
				   "--", "b", "--"})
			  .status,
		  0);
}

TEST(Run, SaysHowManyStreamsThereWere)
{
	FakeHost fake;
	const auto ran = run_wsctl(fake, {"run", "-n", "5", ".", "--", "touch", "started"});

	EXPECT_EQ(ran.status, 125);
	EXPECT_FALSE(std::filesystem::exists("started"));
	expect_golden("run-too-many.txt", ran.err);
}

TEST(Run, FailsLikeEnv)
{
	FakeHost fake;

	EXPECT_EQ(run_wsctl(fake, {"run", "nowhere", "--", "true"}).status, 125);
	EXPECT_EQ(run_wsctl(fake, {"run", "."}).status, 125);
	EXPECT_EQ(run_wsctl(fake, {"run", "-n", "0", ".", "--", "true"}).status, 125);
	fake.kernel.free_streams = 1;
	EXPECT_EQ(run_wsctl(fake, {"run", ".", "--", "/nonexistent/program"}).status, 127);
	fake.kernel.free_streams = 1;
	EXPECT_EQ(run_wsctl(fake, {"run", ".", "--", "/"}).status, 126);
	fake.kernel.failures[FS_IOC_WRITE_STREAM_ALLOC] = EPERM;
	const auto ran = run_wsctl(fake, {"run", ".", "--", "true"});
	EXPECT_EQ(ran.status, 125);
	expect_golden("run-not-permitted.txt", ran.err);
}

TEST(Run, ReportsInJson)
{
	FakeHost fake;
	const auto ran = run_wsctl(fake, {"run", "--json", "-n", "2", ".", "--", "true"});

	EXPECT_EQ(ran.status, 0);
	EXPECT_EQ(ran.out, "");
	expect_golden("run.json", without_descriptors(ran.err));
}

TEST(Run, ReportsASignalInJson)
{
	FakeHost fake;
	const auto ran = run_wsctl(fake, {"run", "--json", ".", "--", "sh", "-c", "kill -9 $$"});

	EXPECT_EQ(ran.status, 137);
	expect_golden("run-signal.json", without_descriptors(ran.err));
}

} // namespace
