// SPDX-License-Identifier: GPL-2.0
#include "junit.h"

#include <gtest/gtest.h>

#include <ws/error.h>
#include <ws/parse.h>

#include "golden.h"

namespace
{

TEST(Junit, EscapesWhatXmlDoesNotHold)
{
	EXPECT_EQ(wsctl::xml_escape("<a> & \"b\"\n\t\x01"),
		  "&lt;a&gt; &amp; &quot;b&quot;&#10;&#9;\xef\xbf\xbd");
	EXPECT_EQ(wsctl::xml_escape("\xff"), "\\377");
}

TEST(Junit, HasItsTotalsAtTheTop)
{
	const FakeHost fake;
	wsctl::JunitFile junit("x.xml");

	for (int i = 0; i < 12; i++)
		junit.passed("p");
	junit.failed("f<\n\xff", {"one & two", "three"});
	junit.error("e", "open: No such file");
	junit.skipped("s", "no stream");
	junit.finish();
	expect_golden("junit.xml", ws::read_file("x.xml"));
}

TEST(Junit, SaysWhereItCannotBeWritten)
{
	const FakeHost fake;

	EXPECT_THROW(wsctl::JunitFile("missing/x"), ws::Error);
	wsctl::JunitFile full("/dev/full");
	full.passed("p");
	EXPECT_THROW(full.finish(), ws::Error);
}

TEST(Junit, IsWrittenByCheck)
{
	FakeHost fake;

	fake.add_streams({"0-3", "4-7"});
	fake.add("good", {.extents = {{.offset = 0, .block = in_ag(1), .length = 1}}, .stream = 0});
	fake.add("bad", {.extents = {{.offset = 0, .block = in_ag(5), .length = 1}}, .stream = 0});
	fake.add("none", {.extents = {{.offset = 0, .block = in_ag(5), .length = 1}}});
	EXPECT_EQ(run_wsctl(fake, {"check", "--junit", "x.xml", "good", "bad", "none", "missing"})
			  .status,
		  2);
	expect_golden("check-junit.xml", ws::read_file("x.xml"));
	EXPECT_EQ(run_wsctl(fake, {"check", "--junit", "/dev/full", "good"}).status, 2);
	EXPECT_EQ(run_wsctl(fake, {"check", "--junit", "missing/x", "good"}).status, 2);
}

} // namespace
