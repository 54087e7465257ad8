// SPDX-License-Identifier: GPL-2.0
// wsctl fio run, with a fio that is a script.
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <ws/parse.h>

#include "fio_samples.h"
#include "golden.h"

using testing::HasSubstr;
using testing::Not;

namespace
{

class FioRun : public testing::Test
{
protected:
	void SetUp() override
	{
		std::filesystem::create_directory("ws");
		std::filesystem::create_directory("xfs");
		fake.kernel.plain = fake.files / "xfs";
		fake.add_streams({"0-3", "4-7", "8-11", "12-15"});
		FakeHost::write("job.fio", "[global]\ndirectory=/elsewhere\n"
					   "[wal.0]\n; wsctl: stream=1\nfilename=a:b\nsize=8k\n");
		fake_fio("exit 0");
	}

	// It writes down what it got, answers, and then does @end.
	void fake_fio(const std::string &end) const
	{
		const std::string seen = fake.files / "seen";

		FakeHost::write("fio", "#!/bin/sh\n"
				       "{ pwd; cat \"$4\"; ls; } >>" +
					       seen + "\ncat >\"${2#--output=}\" <<'END'\n" +
					       fio_sample + "END\n" + end + "\n");
		std::filesystem::permissions("fio", std::filesystem::perms::owner_all);
	}

	Ran run(const std::vector<std::string> &more)
	{
		std::vector<std::string> words{"fio", "run", "--fio", fake.files / "fio",
					       "job.fio"};

		words.insert(words.end(), more.begin(), more.end());
		return run_wsctl(fake, words);
	}

	// Nothing is left of a run.
	static bool is_clean()
	{
		return std::filesystem::is_empty("ws") && std::filesystem::is_empty("xfs");
	}

	FakeHost fake;
};

TEST_F(FioRun, RunsOnPlainXfsAlone)
{
	const auto ran = run({"--json", "xfs"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	const auto json = nlohmann::json::parse(ran.out);
	ASSERT_EQ(json["sites"].size(), 1U);
	EXPECT_EQ(json["sites"][0]["streams"], false);
	EXPECT_TRUE(json["sites"][0]["rows"][0]["ratio"].is_null());
	const std::string seen = ws::read_file("seen");
	EXPECT_THAT(seen, HasSubstr("/xfs/wsctl-fio."));
	EXPECT_THAT(seen, HasSubstr("directory=."));
	EXPECT_THAT(seen, Not(HasSubstr("/elsewhere")));
	EXPECT_THAT(seen, HasSubstr("\na\nb\n"));
	EXPECT_TRUE(is_clean());
	EXPECT_TRUE(fake.kernel.sets.empty());
}

TEST_F(FioRun, RunsOnBothInTurn)
{
	const auto ran = run({"-r", "2", "--plain", "xfs", "--svg", "plots", "--json", "ws"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_THAT(ran.err, HasSubstr("different devices"));
	const auto json = nlohmann::json::parse(ran.out);
	ASSERT_EQ(json["sites"].size(), 2U);
	EXPECT_EQ(json["sites"][0]["name"], "plain XFS");
	EXPECT_EQ(json["sites"][1]["name"], "wsfs");
	EXPECT_EQ(json["sites"][1]["rows"][0]["ratio"], 1.0);
	EXPECT_EQ(json["sites"][1]["rows"][0]["iops_of_rounds"].size(), 2U);
	// Two files in each of two rounds, each with a stream.
	EXPECT_EQ(fake.kernel.sets.size(), 4U);
	EXPECT_NE(fake.kernel.sets.at(0).stream_fd, -1);
	EXPECT_TRUE(std::filesystem::exists("plots/iops.svg"));
	EXPECT_TRUE(is_clean());
	const std::string seen = ws::read_file("seen");
	const auto first = seen.find("/ws/wsctl-fio.");
	EXPECT_LT(seen.find("/xfs/wsctl-fio."), first);
	EXPECT_GT(seen.rfind("/xfs/wsctl-fio."), first);
}

TEST_F(FioRun, HasToBeToldWhereXfsIs)
{
	const auto ran = run({"ws"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_THAT(ran.err, HasSubstr("--plain DIR"));
	EXPECT_EQ(run({"--plain", "ws", "ws"}).status, 1);
	EXPECT_EQ(run({"--plain", "xfs", "xfs"}).status, 1);
	EXPECT_EQ(run({"job.fio"}).status, 1);
	EXPECT_EQ(run({"no-such"}).status, 1);
	EXPECT_FALSE(std::filesystem::exists("seen"));
}

TEST_F(FioRun, WantsEnoughStreams)
{
	fake.kernel.free_streams = 1;
	const auto ran = run({"--plain", "xfs", "ws"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_THAT(ran.err, HasSubstr("has 1 stream, and the job wants 2"));
	EXPECT_THAT(ran.err, HasSubstr("streams=2"));
}

TEST_F(FioRun, CleansUpWhereSetFails)
{
	fake.kernel.failures[FS_IOC_WRITE_STREAM_SET] = EBUSY;
	const auto ran = run({"--plain", "xfs", "ws"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_THAT(ran.err, HasSubstr("EBUSY"));
	EXPECT_TRUE(is_clean());
}

TEST_F(FioRun, SaysWhatFioSaid)
{
	fake_fio("echo 'fio: disk on fire' >&2; exit 3");
	const auto ran = run({"xfs"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_THAT(ran.err, HasSubstr("ended with status 3"));
	EXPECT_THAT(ran.err, HasSubstr("disk on fire"));
	EXPECT_TRUE(is_clean());
}

TEST_F(FioRun, SaysThatThereIsNoFio)
{
	const auto ran = run_wsctl(fake, {"fio", "run", "--fio", "no-such-fio", "job.fio", "xfs"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_THAT(ran.err, HasSubstr("no-such-fio: exec"));
	EXPECT_THAT(ran.err, HasSubstr("apt-get install fio"));
	EXPECT_TRUE(is_clean());
}

TEST_F(FioRun, NoticesThatTheFilesAreOthers)
{
	fake_fio("rm a && touch c && touch a");
	const auto ran = run({"xfs"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_THAT(ran.err, HasSubstr("create_on_open=1"));
	EXPECT_TRUE(is_clean());
}

TEST_F(FioRun, WantsRoom)
{
	FakeHost::write("job.fio", "[wal.0]\nfilename=a\nsize=1000p\n");
	const auto ran = run({"xfs"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_THAT(ran.err, HasSubstr("--filesize"));
	EXPECT_FALSE(std::filesystem::exists("seen"));
}

TEST_F(FioRun, KeepsTheFiles)
{
	const auto ran = run({"--keep", "xfs"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	const std::filesystem::path dir = *std::filesystem::directory_iterator("xfs");
	EXPECT_THAT(ran.err, HasSubstr(dir.string()));
	EXPECT_TRUE(std::filesystem::exists(dir / "b"));
}

TEST_F(FioRun, IsInterruptedBeforeFioStarts)
{
	fake.kernel.signal_in_set = SIGTERM;
	const auto ran = run({"--plain", "xfs", "ws"});

	EXPECT_EQ(ran.status, 128 + SIGTERM);
	EXPECT_EQ(fake.kernel.sets.size(), 1U);
	EXPECT_THAT(ws::read_file("seen"), Not(HasSubstr("/ws/wsctl-fio.")));
	EXPECT_TRUE(is_clean());
}

TEST_F(FioRun, LeavesNothingBehindAnInterrupt)
{
	fake_fio("kill -INT $PPID; exec sleep 100");
	const auto ran = run({"--plain", "xfs", "ws"});

	EXPECT_EQ(ran.status, 130);
	EXPECT_EQ(ran.out, "");
	EXPECT_THAT(ran.err, HasSubstr("interrupted"));
	EXPECT_TRUE(is_clean());
}

} // namespace
