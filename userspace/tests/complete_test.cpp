// SPDX-License-Identifier: GPL-2.0
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden.h"

namespace
{

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// The first line, and the words of the others.
std::vector<std::string> complete(std::vector<std::string> words)
{
	FakeHost fake;
	std::vector<std::string> found;

	words.insert(words.begin(), "__complete");
	std::istringstream lines(run_wsctl(fake, words).out);
	for (std::string line; std::getline(lines, line);)
		found.push_back(line.substr(0, line.find('\t')));
	return found;
}

TEST(Complete, KnowsTheCommands)
{
	const auto all = complete({""});

	for (const char *command :
	     {"info", "streams", "run", "set", "clear", "get", "bmap", "check", "map", "hold",
	      "release", "relocate", "spread", "doctor", "fio"})
		EXPECT_THAT(all, Contains(command));
	EXPECT_THAT(all, Not(Contains("__complete")));
	EXPECT_THAT(complete({"bm"}), ElementsAre("none", "bmap"));
	EXPECT_THAT(complete({"xx"}), ElementsAre("none"));
	EXPECT_THAT(complete({"fio", ""}), ElementsAre("none", "gen", "run"));
}

TEST(Complete, KnowsTheOptions)
{
	EXPECT_THAT(complete({"bmap", "--l"}), ElementsAre("none", "--legend"));
	EXPECT_THAT(complete({"run", "--"}), Contains("--hold"));
	EXPECT_THAT(complete({"run", "--"}), Contains("--color"));
	EXPECT_THAT(complete({"run", "--"}), Not(Contains("--version")));
	EXPECT_THAT(complete({"--v"}), ElementsAre("none", "--version"));
	EXPECT_THAT(complete({"fio", "run", "--sv"}), ElementsAre("none", "--svg"));
}

TEST(Complete, KnowsValues)
{
	EXPECT_THAT(complete({"info", "--color", ""}),
		    ElementsAre("none", "auto", "always", "never"));
	EXPECT_THAT(complete({"info", "--color=a"}),
		    ElementsAre("none", "--color=auto", "--color=always"));
	EXPECT_THAT(complete({"fio", "gen", "in"}),
		    ElementsAre("none", "inter-stream", "intra-stream"));
	EXPECT_THAT(complete({"run", "-n", ""}), ElementsAre("none"));
	EXPECT_THAT(complete({"fio", "gen", "lsm", "-o", ""}), ElementsAre("files"));
}

TEST(Complete, KnowsWhereFilesStand)
{
	EXPECT_THAT(complete({"bmap", ""}), ElementsAre("files"));
	EXPECT_THAT(complete({"bmap", "a", "b", ""}), ElementsAre("files"));
	EXPECT_THAT(complete({"check", "a", "--", ""}), ElementsAre("files"));
	EXPECT_THAT(complete({"hold", ""}), ElementsAre("none"));
	EXPECT_THAT(complete({"hold", "db", ""}), ElementsAre("files"));
	EXPECT_THAT(complete({"hold", "db", "/mnt", ""}), ElementsAre("none"));
	EXPECT_THAT(complete({"fio", "gen", "lsm", ""}), ElementsAre("none"));
	EXPECT_THAT(complete({"fio", "run", "job.fio", ""}), ElementsAre("files"));
}

TEST(Complete, LeavesTheCommandOfRunToOthers)
{
	EXPECT_THAT(complete({"run", "/mnt", "--", "xfs_i"}), ElementsAre("command 3"));
	EXPECT_THAT(complete({"run", "-n", "2", "/mnt", "--", "ls", "-"}),
		    ElementsAre("command 5"));
}

} // namespace
