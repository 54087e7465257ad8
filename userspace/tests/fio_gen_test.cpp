// SPDX-License-Identifier: GPL-2.0
// wsctl fio gen.
#include "fio_scenario.h"

#include <gtest/gtest.h>

#include <ws/error.h>
#include <ws/parse.h>

#include "golden.h"

namespace
{

TEST(FioGen, WritesItsScenarios)
{
	FakeHost fake;

	expect_golden("fio-gen.txt", run_wsctl(fake, {"fio", "gen"}).out);
	expect_golden("fio-gen.json", run_wsctl(fake, {"fio", "gen", "--json"}).out);
	for (const wsctl::FioScenario &scenario : wsctl::fio_scenarios()) {
		const auto ran = run_wsctl(fake, {"fio", "gen", scenario.name, "--filesize", "1m"});

		EXPECT_EQ(ran.status, 0) << ran.err;
		expect_golden("fio-gen-" + scenario.name + ".fio", ran.out);
	}
}

TEST(FioGen, SetsEverything)
{
	FakeHost fake;
	const auto ran = run_wsctl(fake, {"fio",
					  "gen",
					  "lsm",
					  "--set",
					  "bs=8k",
					  "--set",
					  "wal.jobs=0",
					  "--set",
					  "compaction.jobs=1",
					  "--set",
					  "flush.files=2",
					  "--set",
					  "flush.stream=5",
					  "--set",
					  "flush.streams=2",
					  "--set",
					  "compaction.rate=10m",
					  "--set",
					  "flush.size=3m",
					  "--iodepth",
					  "3",
					  "--set",
					  "thread",
					  "-o",
					  "job.fio"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "");
	expect_golden("fio-gen-set.fio", ws::read_file("job.fio"));
}

TEST(FioGen, TellsTheJobAsJson)
{
	FakeHost fake;

	expect_golden("fio-gen-job.json",
		      run_wsctl(fake, {"fio", "gen", "intra-stream", "--json", "--jobs", "1"}).out);
}

TEST(FioGen, FitsIntoTheLinesThatFioReads)
{
	FakeHost fake;
	const std::string job = run_wsctl(fake, {"fio", "gen", "kv-cache", "--files", "16384"}).out;

	EXPECT_NE(job.find("nrfiles=16384\n"), std::string::npos);
	for (std::size_t begin = 0; begin < job.size();) {
		const std::size_t end = job.find('\n', begin);

		EXPECT_LT(end - begin, 4096U);
		begin = end + 1;
	}
}

TEST(FioGen, RefusesNonsense)
{
	FakeHost fake;
	const auto fails = [&](const std::vector<std::string> &more, int status) {
		std::vector<std::string> words{"fio", "gen"};

		words.insert(words.end(), more.begin(), more.end());
		const auto ran = run_wsctl(fake, words);
		EXPECT_EQ(ran.status, status) << more.back();
		EXPECT_NE(ran.err, "") << more.back();
		EXPECT_EQ(ran.out, "") << more.back();
	};

	fails({"no-such"}, 2);
	fails({"lsm", "--set", "nobody.bs=4k"}, 1);
	fails({"lsm", "--set", "=4k"}, 1);
	fails({"lsm", "--set", "jobs=many"}, 1);
	fails({"lsm", "--set", "streams=0"}, 1);
	fails({"lsm", "--set", "files=0"}, 1);
	fails({"lsm", "--set", "jobs=0"}, 1);
	fails({"lsm", "--set", "filesize=much"}, 1);
	fails({"lsm", "--set", "filename=x"}, 1);
	fails({"lsm", "--set", "wal.numjobs=2"}, 1);
	fails({"lsm", "--set", "[evil]"}, 1);
	fails({"lsm", "--set", "bs=4k\n[evil]"}, 1);
	fails({"lsm", "--set", "wal.stream=1023", "--set", "wal.streams=2", "--set", "wal.jobs=2"},
	      1);
	fails({"lsm", "--set", "compaction.filesize=512k"}, 1);
	fails({"lsm", "-o", "no/such/dir"}, 1);
	fails({"lsm", "-o", "/dev/full"}, 1);
}

} // namespace
