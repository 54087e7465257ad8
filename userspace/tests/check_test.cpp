// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "golden.h"

namespace
{

class Check : public testing::Test
{
protected:
	void SetUp() override
	{
		fake_.add_streams({"0-3", "4-7", "8-11", "12-15"}, 2);
		add("a", {in_ag(0), in_ag(3)}, 0);
		add("b", {in_ag(4), in_ag(7, 5)}, 1);
		add("c", {in_ag(5)}, 1);
		add("released", {in_ag(8)}, std::nullopt);
		add("stray", {in_ag(4), in_ag(8), in_ag(5), in_ag(0)}, 1);
		add("empty", {}, 1);
	}
	// Single blocks with a hole behind each.
	void add(const std::string &name, const std::vector<std::uint64_t> &blocks,
		 std::optional<std::uint32_t> stream)
	{
		FakeFile file{.extents = {}, .stream = stream};

		for (const std::uint64_t block : blocks)
			file.extents.push_back(
				{.offset = 2 * file.extents.size(), .block = block, .length = 1});
		fake_.add(name, file);
	}
	Ran check(std::vector<std::string> arguments)
	{
		arguments.insert(arguments.begin(), "check");
		return run_wsctl(fake_, arguments);
	}

	FakeHost fake_;
};

TEST_F(Check, PassesWhereAllDataIsInItsSet)
{
	const auto ran = check({"a", "b", "c"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "ok: 3 files, 5 extents\n");
	EXPECT_EQ(check({"--quiet", "a"}).out, "");
}

TEST_F(Check, PassesAFileWithoutData)
{
	EXPECT_EQ(check({"empty"}).out, "ok: 1 file, 0 extents\n");
}

TEST_F(Check, FailsWhereDataStrays)
{
	const auto ran = check({"a", "stray"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("check-stray.txt", ran.out);
	const auto quiet = check({"-q", "a", "stray"});
	EXPECT_EQ(quiet.status, 1);
	EXPECT_TRUE(ran.out.starts_with(quiet.out));
	EXPECT_NE(quiet.out, "");
}

TEST_F(Check, NumbersExtentsAsBmapDoes)
{
	// The second extent of the file, behind a hole, is number 2 in bmap.
	EXPECT_NE(run_wsctl(fake_, {"bmap", "stray"}).out.find("\n   2: [16..23]:"),
		  std::string::npos);
	EXPECT_NE(check({"stray"}).out.find("extent 2 [16..23] in AG 8"), std::string::npos);
}

TEST_F(Check, SearchesDirectories)
{
	const auto ran = check({"."});

	EXPECT_EQ(ran.status, 1);
	expect_golden("check-tree.txt", ran.out);
}

TEST_F(Check, DoesNotPassWhatItDidNotCheck)
{
	const auto ran = check({"released"});

	EXPECT_EQ(ran.status, 2);
	EXPECT_EQ(ran.out, "");
	expect_golden("check-nothing.txt", ran.err);
	EXPECT_EQ(check({"released", "a"}).out,
		  "ok: 1 file, 2 extents; 1 file without a stream not checked\n");
	std::filesystem::create_directory("none");
	EXPECT_EQ(check({"none"}).status, 2);
	EXPECT_EQ(check({"--stream", "none=1"}).status, 2);
}

TEST_F(Check, TakesAStreamForAllFiles)
{
	EXPECT_EQ(check({"--within", "2", "released"}).status, 0);
	EXPECT_EQ(check({"--within", "1", "released"}).status, 1);
	EXPECT_EQ(check({"--within", "2", "released", "a"}).status, 1);
	EXPECT_EQ(check({"--within", "4", "released"}).status, 2);
	EXPECT_EQ(check({"--within", "x", "released"}).status, 2);
}

TEST_F(Check, TakesAStreamForOneFile)
{
	EXPECT_EQ(check({"--stream", "released=2"}).out, "ok: 1 file, 1 extent\n");
	EXPECT_EQ(check({"--stream", "released=2", "released"}).out, "ok: 1 file, 1 extent\n");
	EXPECT_EQ(check({"--stream", "released=2", "a"}).out, "ok: 2 files, 3 extents\n");
	EXPECT_EQ(check({"--stream", "released=3", "a"}).status, 1);
	// A file that carries a stream may be expected elsewhere.
	EXPECT_EQ(check({"--stream", "a=1"}).status, 1);
	for (const char *text : {"released", "released=", "=2", "released=x", "released=-1"})
		EXPECT_EQ(check({"--stream", text}).status, 2) << text;
}

TEST_F(Check, TellsStreamsApart)
{
	EXPECT_EQ(check({"--isolated", "a", "b", "c"}).out, "ok: 3 files, 5 extents\n");
	const auto ran = check({"--isolated", "a", "b", "c", "stray"});
	EXPECT_EQ(ran.status, 1);
	expect_golden("check-isolated.txt", ran.out);
}

TEST_F(Check, TellsGroupsApart)
{
	EXPECT_EQ(check({"--isolated", "a", "--", "b", "c"}).status, 0);
	// Streams share nothing, but these groups share a stream's AGs.
	add("d", {in_ag(4)}, 1);
	const auto ran = check({"--isolated", "a", "b", "--", "d"});
	EXPECT_EQ(ran.status, 1);
	expect_golden("check-groups.txt", ran.out);
}

TEST_F(Check, TellsGroupsApartOnPlainXfs)
{
	fake_.kernel.type = FakeType::xfs;
	EXPECT_EQ(check({"--isolated", "a", "--", "b", "c"}).status, 0);
	EXPECT_EQ(check({"--isolated", "a", "--", "stray"}).status, 1);
	EXPECT_EQ(check({"--max-extents", "2", "a"}).status, 0);
	EXPECT_EQ(check({"a"}).status, 2);
	EXPECT_EQ(check({"--within", "0", "a"}).status, 2);
}

TEST_F(Check, NeedsTwoGroupsToTellApart)
{
	EXPECT_EQ(check({"--isolated", "b", "c"}).status, 2);
	EXPECT_EQ(check({"--isolated", "a", "released"}).status, 2);
	EXPECT_EQ(check({"a", "--", "b"}).status, 2);
}

TEST_F(Check, WantsFilesToTakeTurns)
{
	add("s1", {in_ag(5)}, 1);
	add("s2", {in_ag(6)}, 1);
	add("s3", {in_ag(7)}, 1);
	EXPECT_EQ(check({"--spread", "b", "s1", "s2", "s3"}).out, "ok: 4 files, 5 extents\n");
	const auto ran = check({"--spread", "c", "s1", "s2"});
	EXPECT_EQ(ran.status, 1);
	expect_golden("check-spread.txt", ran.out);
	EXPECT_EQ(check({"--spread=2", "c", "s1", "s2"}).status, 0);
	expect_golden("check-spread.json", check({"--json", "--spread", "c", "s1", "s2"}).out);
}

TEST_F(Check, WantsFilesToTakeTurnsOnPlainXfs)
{
	fake_.kernel.type = FakeType::xfs;
	fake_.kernel.ag_count = 2;
	add("x", {in_ag(0)}, std::nullopt);
	add("y", {in_ag(1)}, std::nullopt);
	add("z", {in_ag(1)}, std::nullopt);
	add("w", {in_ag(1)}, std::nullopt);
	EXPECT_EQ(check({"--spread", "x", "y", "z"}).status, 0);
	EXPECT_EQ(check({"--spread", "x", "y", "z", "w"}).status, 1);
	EXPECT_EQ(check({"--spread", "x", "y", "--", "z"}).status, 2); // groups are for isolation
}

TEST_F(Check, CountsExtents)
{
	EXPECT_EQ(check({"--max-extents", "2", "a", "b"}).status, 0);
	const auto ran = check({"--max-extents", "1", "a", "c", "released"});
	EXPECT_EQ(ran.status, 1);
	EXPECT_EQ(ran.out, "a: 2 extents, expected at most 1\nfailed: 1 of 3 files\n");
}

TEST_F(Check, KnowsNoRealtimeStreams)
{
	fake_.add("rt", {.extents = {{.offset = 0, .block = 1, .length = 1}},
			 .stream = 0,
			 .xflags = FS_XFLAG_REALTIME});
	EXPECT_EQ(check({"rt"}).status, 2);
}

TEST_F(Check, SaysWhatItCouldNotCheck)
{
	const auto ran = check({"a", "missing"});

	EXPECT_EQ(ran.status, 2);
	EXPECT_EQ(ran.out, "");
	expect_golden("check-missing.txt", ran.err);
	// What is wrong is shown all the same.
	const auto both = check({"missing", "stray"});
	EXPECT_EQ(both.status, 2);
	EXPECT_NE(both.out.find("stray: extent 2"), std::string::npos);
}

TEST_F(Check, TakesStrangeNames)
{
	add("x\n=\xff", {in_ag(8)}, 1);
	EXPECT_TRUE(check({"x\n=\xff"}).out.starts_with(R"(x\n=\377: extent 0)"));
	EXPECT_EQ(check({"--stream", "x\n=\xff=2"}).status, 0);
	add("-v", {in_ag(8)}, 2);
	EXPECT_EQ(check({"--", "-v"}).status, 0);
}

TEST_F(Check, WritesJson)
{
	expect_golden("check-ok.json", check({"--json", "--isolated", "a", "b"}).out);
	const auto ran = check({"--json", "--isolated", "--max-extents", "3", "a", "released",
				"stray", "missing"});
	EXPECT_EQ(ran.status, 2);
	expect_golden("check.json", ran.out);
}

} // namespace
