// SPDX-License-Identifier: GPL-2.0
#include <ws/mountinfo.h>

#include <gtest/gtest.h>

#include "fake_host.h"

namespace
{

TEST(UnescapeOctal, TurnsBackWhatTheKernelEscapes)
{
	EXPECT_EQ(ws::unescape_octal(R"(a\040b\011c\012d\134e\043)"), "a b\tc\nd\\e#");
	EXPECT_EQ(ws::unescape_octal(R"(\377)"), "\xff");
}

TEST(UnescapeOctal, LeavesTheRestAlone)
{
	for (const char *text : {"", "plain", R"(\)", R"(\04)", R"(\08x)", R"(\400)", R"(\x41)"})
		EXPECT_EQ(ws::unescape_octal(text), text);
	EXPECT_EQ(ws::unescape_octal(R"(\\040)"), R"(\ )");
}

TEST(MountLine, HasTheDocumentedFields)
{
	const auto entry = ws::parse_mount_line(
		R"(70 29 0:51 / /mnt/my\040streams rw,relatime shared:31 master:1 - wsfs /mnt/x\134y rw,streams=4)");

	ASSERT_TRUE(entry);
	EXPECT_EQ(entry->id, 70U);
	EXPECT_EQ(entry->mount_point, "/mnt/my streams");
	EXPECT_EQ(entry->type, "wsfs");
	EXPECT_EQ(entry->source, "/mnt/x\\y");
	EXPECT_EQ(entry->super_options, "rw,streams=4");
}

TEST(MountLine, MayLackTags)
{
	const auto entry = ws::parse_mount_line("1 0 8:1 / / rw - xfs /dev/sda1 rw");

	ASSERT_TRUE(entry);
	EXPECT_EQ(entry->type, "xfs");
}

TEST(MountLine, RefusesOtherForms)
{
	for (const char *line :
	     {"", "1", "1 0 8:1 / / rw", "1 0 8:1 / / rw - xfs",
	      "x 0 8:1 / / rw - xfs /dev/sda1 rw", "1 0 8:1 / - xfs /dev/sda1 rw"})
		EXPECT_FALSE(ws::parse_mount_line(line)) << line;
}

TEST(ReadMounts, SkipsWhatItCannotRead)
{
	FakeHost fake;

	fake.write(fake.root / "proc" / "mountinfo",
		   "1 0 8:1 / / rw - xfs /dev/sda1 rw\ngarbage\n70 1 0:51 / /m rw - wsfs /l rw\n");
	const auto mounts = ws::read_mounts(fake.host());
	ASSERT_EQ(mounts.size(), 2U);
	EXPECT_EQ(mounts[1].mount_point, "/m");
}

} // namespace
