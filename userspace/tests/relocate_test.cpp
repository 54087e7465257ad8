// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <sstream>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.h"
#include "relocate_report.h"

namespace
{

class Relocate : public testing::Test
{
protected:
	void SetUp() override
	{
		fake_.add_streams({"0-3", "4-7", "8-11", "12-15"}, 2);
		fake_.add("home.dat",
			  {.extents = {{.offset = 0, .block = in_ag(5, 24), .length = 256}},
			   .stream = 1,
			   .home_ag = 5});
		fake_.add("stray.dat",
			  {.extents = {{.offset = 0, .block = in_ag(0, 24), .length = 256},
				       {.offset = 300,
					.block = in_ag(1),
					.length = 1,
					.flags = FIEMAP_EXTENT_UNWRITTEN},
				       {.offset = 301,
					.block = in_ag(2),
					.length = 2,
					.flags = FIEMAP_EXTENT_SHARED},
				       {.offset = 303, .block = in_ag(6), .length = 1},
				       {.offset = 304, .block = in_ag(9), .length = 2}},
			   .stream = 1,
			   .home_ag = 4},
			  305 * fake_block + 10);
		fake_.add("none.dat",
			  {.extents = {{.offset = 0, .block = in_ag(12, 1), .length = 1}}});
	}

	FakeHost fake_;
};

TEST_F(Relocate, SaysWhatItWouldMove)
{
	const auto ran =
		run_wsctl(fake_, {"relocate", "--dry-run", "--verbose", "home.dat", "stray.dat"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.err, "");
	expect_golden("relocate-dry-run.txt", ran.out);
}

TEST_F(Relocate, SaysSoInJson)
{
	const auto ran = run_wsctl(fake_, {"relocate", "--json", "-n", "home.dat", "stray.dat",
					   "none.dat", "missing"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("relocate.json", ran.out);
}

TEST_F(Relocate, GoesWhereItIsTold)
{
	expect_golden(
		"relocate-told.txt",
		run_wsctl(fake_, {"relocate", "-n", "--stream", "3", "home.dat", "none.dat"}).out +
			run_wsctl(fake_,
				  {"relocate", "-n", "-v", "--ags", "5,12", "home.dat", "none.dat"})
				.out +
			run_wsctl(fake_, {"relocate", "-n", "--shared", "stray.dat"}).out);
}

TEST_F(Relocate, SaysWhatItHasMoved)
{
	constexpr std::uint64_t mib = 1 << 20;
	wsctl::RelocateReport report;
	std::ostringstream out;
	const wsctl::Context context{
		.host = fake_.host(), .out = out, .err = out, .command = "relocate"};
	wsctl::Json entry = wsctl::Json::object();

	report.path = "a\n\xff";
	report.stream = 1;
	report.home = *ws::AgSet::parse("4-7");
	report.plan.stray_bytes = 3 * mib;
	report.plan.from = *ws::AgSet::parse("0,9");
	report.left.stray_bytes = fake_block;
	report.left.unwritten_bytes = 2 * fake_block;
	report.moved = 3 * mib - fake_block;
	report.marked = true;
	wsctl::write_report(context, report, false);
	expect_golden("relocate-moved.txt", out.str());
	wsctl::add_report(entry, report);
	expect_golden("relocate-moved-file.txt", entry.dump(2) + "\n");
}

TEST_F(Relocate, LeavesFilesThatAreHomeAlone)
{
	const auto ran = run_wsctl(fake_, {"relocate", "home.dat"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "");
}

TEST_F(Relocate, RefusesWhatCannotBeMoved)
{
	std::string errors;
	const auto refused = [&](const std::vector<std::string> &arguments) {
		const auto ran = run_wsctl(fake_, arguments);

		EXPECT_EQ(ran.status, 1);
		EXPECT_EQ(ran.out, "");
		errors += ran.err;
	};

	refused({"relocate", "none.dat"});
	refused({"relocate", "--stream", "9", "none.dat"});
	refused({"relocate", "--ags", "3-16", "none.dat"});
	fake_.add("immutable.dat", {.extents = {}, .stream = 1, .xflags = FS_XFLAG_IMMUTABLE});
	refused({"relocate", "immutable.dat"});
	fake_.add("append.dat", {.extents = {}, .stream = 1, .xflags = FS_XFLAG_APPEND});
	refused({"relocate", "append.dat"});
	fake_.add("rt.dat", {.extents = {}, .stream = 1, .xflags = FS_XFLAG_REALTIME});
	refused({"relocate", "rt.dat"});
	ASSERT_EQ(mkdir("dir", 0700), 0);
	refused({"relocate", "dir"});
	fake_.kernel.modern = false;
	refused({"relocate", "stray.dat"});
	fake_.kernel.type = FakeType::xfs;
	refused({"relocate", "stray.dat"});
	expect_golden("relocate-errors.txt", errors);
}

TEST_F(Relocate, PassesOverFilesOfATreeWithoutAStream)
{
	ASSERT_EQ(mkdir("d", 0700), 0);
	fake_.add("d/none.dat", {.extents = {{.offset = 0, .block = in_ag(1), .length = 1}}});
	fake_.add("d/stray.dat",
		  {.extents = {{.offset = 0, .block = in_ag(1), .length = 1}}, .stream = 2});
	const auto ran = run_wsctl(fake_, {"relocate", "-n", "-r", "d"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "d/stray.dat: 4 KiB to move from AG 1 to AG 8-11\n  [0..7]: AG 1\n");
}

// The donor's place cannot be told here, so nothing may be touched.
TEST_F(Relocate, ChangesNothingWithoutADonor)
{
	const auto ran = run_wsctl(fake_, {"relocate", "stray.dat"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_NE(ran.err.find("stay outside AG 4-7: no room there"), std::string::npos) << ran.err;
	EXPECT_TRUE(std::filesystem::exists("stray.dat"));
	for (const auto &entry : std::filesystem::directory_iterator("."))
		EXPECT_FALSE(entry.path().filename().native().starts_with(".wsctl"));
}

TEST_F(Relocate, SweepsWhatSomebodyLeft)
{
	ASSERT_EQ(mkdir(".wsctl-relocate-abcdef", 0700), 0);
	run_wsctl(fake_, {"relocate", "stray.dat"});
	EXPECT_FALSE(std::filesystem::exists(".wsctl-relocate-abcdef"));
}

TEST_F(Relocate, ChecksItsCommandLine)
{
	for (const std::vector<std::string> &arguments : std::vector<std::vector<std::string>>{
		     {"relocate"},
		     {"relocate", "--bwlimit", "fast", "home.dat"},
		     {"relocate", "--bwlimit", "0", "home.dat"},
		     {"relocate", "--ags", "7-4", "home.dat"},
		     {"relocate", "--ags", "", "home.dat"},
		     {"relocate", "--ags", "1", "--stream", "1", "home.dat"}}) {
		const auto ran = run_wsctl(fake_, arguments);

		EXPECT_EQ(ran.status, 2) << ran.err;
		EXPECT_NE(ran.err.find("wsctl relocate: "), std::string::npos);
	}
}

TEST(RelocateProgress, TellsRateAndTimeLeft)
{
	EXPECT_EQ(wsctl::relocate_progress_text(3 << 20, 9 << 20, 2),
		  "3.0 of 9.0 MiB, 1.5 MiB/s, 0:04 left");
	EXPECT_EQ(wsctl::relocate_progress_text(0, 9 << 20, 2), "0.0 of 9.0 MiB, 0.0 MiB/s");
}

} // namespace
