// SPDX-License-Identifier: GPL-2.0
// fio's job files, and what a run has to know of them.
#include "fio_job.h"
#include "fio_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ws/error.h>

#include "fio_scenario.h"

using testing::ElementsAre;

namespace
{

wsctl::FioPlan plan_of(const std::string &text)
{
	return wsctl::plan_fio(wsctl::parse_fio_job(text, "job"), "job");
}

// "name role stream", - for none
std::vector<std::string> files_of(const std::string &text)
{
	std::vector<std::string> list;

	for (const wsctl::FioFile &file : plan_of(text).files)
		list.push_back(file.name + " " + file.role + " " +
			       (file.stream ? std::to_string(*file.stream) : "-"));
	return list;
}

TEST(FioSize, IsReadAsFioDoes)
{
	EXPECT_EQ(wsctl::parse_fio_size("4096"), 4096U);
	EXPECT_EQ(wsctl::parse_fio_size("4k"), 4096U);
	EXPECT_EQ(wsctl::parse_fio_size("4K"), 4096U);
	EXPECT_EQ(wsctl::parse_fio_size("2m"), 2U << 20U);
	EXPECT_EQ(wsctl::parse_fio_size("8g"), 8ULL << 30U);
	EXPECT_EQ(wsctl::parse_fio_size("1GiB"), 1ULL << 30U);
	for (const char *bad :
	     {"", "k", "4x", "-1", "4 k", "99999999999999999999", "16384000p", "4kk"})
		EXPECT_FALSE(wsctl::parse_fio_size(bad)) << bad;
}

TEST(FioJobFile, ComesBackAsItWas)
{
	for (const wsctl::FioScenario &scenario : wsctl::fio_scenarios()) {
		const wsctl::FioJob job = wsctl::make_fio_job(scenario, "x");
		wsctl::FioJob back = wsctl::parse_fio_job(wsctl::format(job), "job");

		back.comments = job.comments;
		EXPECT_EQ(wsctl::format(back), wsctl::format(job));
		EXPECT_EQ(back.streams, job.streams);
	}
}

TEST(FioJobFile, IsReadWithBlanksAndComments)
{
	const auto job = wsctl::parse_fio_job("# wsctl: streams = 3\n"
					      "\n"
					      "[global]\r\n"
					      "  direct = 1\n"
					      "; of no concern\n"
					      "[a]\n"
					      ";wsctl: stream=4\n"
					      "stonewall",
					      "job");

	// As many as are named.
	EXPECT_EQ(job.streams, 5U);
	ASSERT_EQ(job.sections.size(), 2U);
	EXPECT_EQ(*wsctl::find_option(job.sections[0].options, "direct"), "1");
	EXPECT_EQ(job.sections[1].stream, 4U);
	EXPECT_EQ(*wsctl::find_option(job.sections[1].options, "stonewall"), "");
	EXPECT_EQ(wsctl::find_option(job.sections[1].options, "direct"), nullptr);
}

TEST(FioJobFile, SaysWhatIsWrong)
{
	for (const char *bad : {"", "; nothing\n", "direct=1\n", "[a\n", "; wsctl: stream=1\n[a]\n",
				"[a]\n; wsctl: stream=x\n", "[a]\n; wsctl: stream=1024\n",
				"; wsctl: streams=1025\n[a]\n", "; wsctl: streams=-1\n[a]\n"})
		EXPECT_THROW(wsctl::parse_fio_job(bad, "job"), ws::Error) << bad;
}

TEST(FioOptionList, GoesByTheLastOne)
{
	wsctl::FioOptions options{{"bs", "4k"}, {"rw", "write"}, {"bs", "8k"}};

	EXPECT_EQ(*wsctl::find_option(options, "bs"), "8k");
	wsctl::set_option(options, "bs", "1m");
	EXPECT_EQ(options, (wsctl::FioOptions{{"bs", "1m"}, {"rw", "write"}}));
}

TEST(FioPlan, FindsFilesAndTheirStreams)
{
	EXPECT_THAT(
		files_of("[wal.0]\n; wsctl: stream=1\nfilename=x:y\\:z:\n[db.main]\nfilename=d\n"),
		ElementsAre("x wal 1", "y:z wal 1", "d db.main -"));
	EXPECT_THAT(files_of("[f.7]\nnrfiles=2\nfilename_format=f.$filenum.dat\n"),
		    ElementsAre("f.0.dat f -", "f.1.dat f -"));
	EXPECT_THAT(files_of("[global]\nfilename=all\n; wsctl: stream=3\n[a]\n[b]\n"),
		    ElementsAre("all a 3"));
}

TEST(FioPlan, StartsInItsDirectory)
{
	const auto plan =
		plan_of("[global]\ndirectory=/elsewhere\n[a]\nfilename=x\ndirectory=/d\n");

	EXPECT_EQ(wsctl::format(plan.job), "; wsctl: streams=0\n\n[global]\ndirectory=.\n\n"
					   "[a]\nfilename=x\ndirectory=.\n");
}

TEST(FioPlan, KnowsHowMuchThereIsToDo)
{
	EXPECT_EQ(plan_of("[a]\nfilename=x\nsize=8k\n[b]\nfilename=y\nsize=1k\nnumjobs=3\n").bytes,
		  11U << 10U);
	EXPECT_EQ(plan_of("[a]\nfilename=x:y\nfilesize=4k\n").bytes, 8192U);
	EXPECT_EQ(plan_of("[a]\nfilename=x\nsize=50%\n").bytes, 0U);
	EXPECT_EQ(plan_of("[a]\nfilename=x\nruntime=30s\n").seconds, 30U);
	EXPECT_EQ(plan_of("[a]\nfilename=x\nruntime=1h\n").seconds, 0U);
}

TEST(FioPlan, RefusesWhatLeadsElsewhere)
{
	for (const char *bad :
	     {"[global]\nfilename=x\n", "[a]\nrw=write\n", "[a]\nfilename=/dev/sda\n",
	      "[a]\nfilename=x:../y\n", "[a]\nfilename=..\n", "[a]\nfilename=x$HOME\n",
	      "[a]\nfilename_format=$jobname.$filenum\nnrfiles=2\n",
	      "[a]\nfilename_format=same\nnrfiles=2\n", "[a]\nfilename_format=\n",
	      "[a]\nfilename_format=f.$filenum\nnrfiles=0\n",
	      "[a]\nfilename_format=f.$filenum\nnrfiles=99999999\n",
	      "[a]\nfilename=x\ninclude other.fio\n", "[a]\nfilename=x\nopendir=/\n",
	      "[a]\nfilename=x\nchroot=/\n",
	      "[a]\n; wsctl: stream=0\nfilename=x\n[b]\n; wsctl: stream=1\nfilename=x\n"})
		EXPECT_THROW(plan_of(bad), ws::Error) << bad;
	EXPECT_THROW(plan_of(std::string("[a]\nfilename=a\0b\n", 17)), ws::Error);
}

TEST(FioPlan, KnowsTheFilesOfEachScenario)
{
	for (const wsctl::FioScenario &scenario : wsctl::fio_scenarios()) {
		const auto plan = wsctl::plan_fio(wsctl::make_fio_job(scenario, "x"), "job");
		std::size_t files = 0;
		std::uint64_t bytes = 0;

		for (const wsctl::FioRole &role : scenario.roles) {
			files += std::size_t{role.jobs} * role.files;
			bytes += std::uint64_t{role.jobs} * role.files *
				 *wsctl::parse_fio_size(role.filesize);
		}
		EXPECT_EQ(plan.files.size(), files) << scenario.name;
		EXPECT_EQ(plan.bytes, bytes) << scenario.name;
	}
}

} // namespace
