// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace
{

TEST(Escape, LeavesPlainNamesAlone)
{
	for (const char *name :
	     {"", "a.dat", "with blank", "/mnt/ws/x=1", "Grüße", "日本", "\U0001f600"})
		EXPECT_EQ(wsctl::escape(name), name);
}

TEST(Escape, KeepsNamesOnOneLine)
{
	EXPECT_EQ(wsctl::escape("a\nb\tc\\d\x1b[31m\x7f"), R"(a\nb\tc\\d\033[31m\177)");
	EXPECT_EQ(wsctl::escape("\xc2\x9b"), R"(\302\233)");
}

TEST(Escape, ShowsBytesThatAreNoText)
{
	EXPECT_EQ(wsctl::escape("a\xff z"), R"(a\377 z)");
	EXPECT_EQ(wsctl::escape("\xc3"), R"(\303)");
	EXPECT_EQ(wsctl::escape("\xc3(\xa9"), R"(\303(\251)");
}

TEST(Utf8, IsToldFromOtherBytes)
{
	for (const char *text :
	     {"", "abc", "é", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
		EXPECT_TRUE(wsctl::is_utf8(text)) << wsctl::hex(text);
	// Cut off, too long a form, a surrogate, beyond U+10FFFF, stray bytes.
	for (const char *text : {"\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\x80",
				 "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xff", "a\xfe"})
		EXPECT_FALSE(wsctl::is_utf8(text)) << wsctl::hex(text);
}

TEST(Hex, HasTwoDigitsForEachByte)
{
	EXPECT_EQ(wsctl::hex(std::string("\x00\x0f\xff", 3)), "000fff");
}

TEST(BinarySize, IsExact)
{
	EXPECT_EQ(wsctl::binary_size(0), "0 bytes");
	EXPECT_EQ(wsctl::binary_size(512), "512 bytes");
	EXPECT_EQ(wsctl::binary_size(4096), "4 KiB");
	EXPECT_EQ(wsctl::binary_size(67108864), "64 MiB");
	EXPECT_EQ(wsctl::binary_size(67112960), "65540 KiB");
	EXPECT_EQ(wsctl::binary_size(1ULL << 63U), "8 EiB");
}

TEST(Plural, KnowsOne)
{
	EXPECT_EQ(wsctl::plural(1, "file"), "1 file");
	EXPECT_EQ(wsctl::plural(0, "file"), "0 files");
	EXPECT_EQ(wsctl::plural(2, "file"), "2 files");
}

} // namespace
