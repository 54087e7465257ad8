// SPDX-License-Identifier: GPL-2.0
#include <ws/extents.h>

#include <cerrno>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/filesystem.h>

#include "fake_host.h"

namespace
{

// Each row as "INDEX OFFSET+LENGTH SECTOR", with u and s for the flags.
std::string map_of(FakeHost &fake, const std::string &path)
{
	const ws::UniqueFd fd = ws::open_for_info(path);
	const auto filesystem = ws::Filesystem::of(fake.host(), fd.get(), path);
	const auto shape = ws::file_shape(fake.host(), fd.get(), path, filesystem.geometry);
	std::string text;

	ws::walk_extents(fake.host(), fd.get(), path, shape, [&](const ws::Extent &extent) {
		text += fmt::format("{} {}+{} {}{}{}\n", extent.index, extent.offset, extent.length,
				    extent.sector ? fmt::format("{}", *extent.sector) : "hole",
				    extent.unwritten ? "u" : "", extent.shared ? "s" : "");
	});
	return text;
}

TEST(Extents, AreCountedInSectors)
{
	FakeHost fake;

	fake.add("f", {.extents = {{.offset = 0, .block = 10, .length = 2}}});
	EXPECT_EQ(map_of(fake, "f"), "0 0+16 80\n");
}

TEST(Extents, HaveHolesBetweenThem)
{
	FakeHost fake;

	fake.add(
		"f",
		{.extents =
			 {{.offset = 1, .block = 10, .length = 1},
			  {.offset = 4, .block = 20, .length = 1, .flags = FIEMAP_EXTENT_UNWRITTEN},
			  {.offset = 5, .block = 40, .length = 1, .flags = FIEMAP_EXTENT_SHARED}}},
		8 * fake_block);
	EXPECT_EQ(map_of(fake, "f"), "0 0+8 hole\n1 8+8 80\n2 16+16 hole\n3 32+8 160u\n"
				     "4 40+8 320s\n5 48+16 hole\n");
}

TEST(Extents, AreNoneInAnEmptyOrSparseFile)
{
	FakeHost fake;

	fake.add("empty", {});
	fake.add("sparse", {}, 1U << 20U);
	EXPECT_EQ(map_of(fake, "empty"), "");
	EXPECT_EQ(map_of(fake, "sparse"), "");
}

TEST(Extents, EndWithTheLastBlockOfTheFile)
{
	FakeHost fake;

	fake.add("f", {.extents = {{.offset = 0, .block = 10, .length = 16}}}, fake_block + 1);
	EXPECT_EQ(map_of(fake, "f"), "0 0+16 80\n");
}

TEST(Extents, GoOnBehindTheEndWherePreallocated)
{
	FakeHost fake;
	const FakeExtent extent{.offset = 0, .block = 10, .length = 16};

	fake.add("f", {.extents = {extent}, .stream = std::nullopt, .xflags = FS_XFLAG_PREALLOC},
		 1);
	EXPECT_EQ(map_of(fake, "f"), "0 0+128 80\n");
}

TEST(Extents, LeaveOutWhatHasNoPlaceYet)
{
	FakeHost fake;

	fake.add("f",
		 {.extents = {
			  {.offset = 0, .block = 10, .length = 1},
			  {.offset = 1, .block = 0, .length = 1, .flags = FIEMAP_EXTENT_DELALLOC},
			  {.offset = 2, .block = 20, .length = 1}}});
	EXPECT_EQ(map_of(fake, "f"), "0 0+8 80\n1 16+8 160\n");
}

TEST(Extents, ComeInBatches)
{
	FakeHost fake;
	FakeFile file;
	std::string expected;

	for (std::uint64_t i = 0; i < 1500; i++) {
		file.extents.push_back({.offset = i, .block = 2 * i, .length = 1});
		expected += fmt::format("{} {}+8 {}\n", i, 8 * i, 16 * i);
	}
	fake.add("f", file);
	EXPECT_EQ(map_of(fake, "f"), expected);
	EXPECT_EQ(fake.kernel.fiemap_calls, 3);
}

TEST(Extents, NeedARegularFile)
{
	FakeHost fake;

	EXPECT_THROW(map_of(fake, "."), ws::Error);
}

TEST(Extents, TellWhyThereIsNoMap)
{
	FakeHost fake;

	fake.add("f", {});
	fake.kernel.failures[FS_IOC_FIEMAP] = EIO;
	try {
		map_of(fake, "f");
		FAIL();
	} catch (const ws::Error &error) {
		EXPECT_EQ(error.call(), "FS_IOC_FIEMAP");
		EXPECT_EQ(error.code(), EIO);
		EXPECT_EQ(error.path(), "f");
	}
}

} // namespace
