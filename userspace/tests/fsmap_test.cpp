// SPDX-License-Identifier: GPL-2.0
#include <ws/fsmap.h>

#include <cerrno>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/mount.h>

#include "fake_host.h"
#include "golden.h"

namespace
{

constexpr std::uint32_t device = 259U << 8U | 1U;

struct fsmap record(std::uint64_t block, std::uint64_t length, std::uint64_t owner,
		    std::uint32_t flags)
{
	struct fsmap record = {};

	record.fmr_device = device;
	record.fmr_flags = flags;
	record.fmr_physical = block * fake_block;
	record.fmr_length = length * fake_block;
	record.fmr_owner = owner;
	record.fmr_offset = 8 * fake_block;
	return record;
}

TEST(FsMap, TellsWhoOwnsWhat)
{
	FakeHost fake;
	std::string text;

	fake.kernel.mappings = {record(0, 4, FMR_OWN_METADATA, FMR_OF_SPECIAL_OWNER),
				record(4, 2, 131, FMR_OF_SHARED),
				record(6, 1, 132, FMR_OF_PREALLOC),
				record(7, 9, FMR_OWN_FREE, FMR_OF_SPECIAL_OWNER),
				record(20, 1, FMR_OWN_UNKNOWN, FMR_OF_SPECIAL_OWNER)};
	const ws::Mount mount = ws::Mount::at(fake.host(), ".");
	ws::walk_fsmap(fake.host(), mount.fd(), ".", [&](const ws::Mapping &mapping) {
		text += fmt::format("{}+{} {} {}@{}{}{}\n", mapping.sector, mapping.length,
				    static_cast<int>(mapping.owner), mapping.inode, mapping.offset,
				    mapping.shared ? "s" : "", mapping.unwritten ? "u" : "");
	});
	EXPECT_EQ(text, "0+32 2 0@0\n32+16 1 131@64s\n48+8 1 132@64u\n56+72 0 0@0\n160+8 3 0@0\n");
}

TEST(FsMap, ComesInBatches)
{
	FakeHost fake;
	std::uint64_t count = 0;

	for (std::uint64_t i = 0; i < 1500; i++)
		fake.kernel.mappings.push_back(
			record(2 * i + 1, 1, FMR_OWN_FREE, FMR_OF_SPECIAL_OWNER));
	const ws::Mount mount = ws::Mount::at(fake.host(), ".");
	ws::walk_fsmap(fake.host(), mount.fd(), ".", [&](const ws::Mapping &mapping) {
		EXPECT_EQ(mapping.sector, (2 * count + 1) * 8);
		count++;
	});
	EXPECT_EQ(count, 1500U);
}

TEST(FsMap, SaysWhoMayAsk)
{
	FakeHost fake;

	fake.kernel.failures[FS_IOC_GETFSMAP] = EPERM;
	const ws::Mount mount = ws::Mount::at(fake.host(), ".");
	EXPECT_THROW(ws::walk_fsmap(fake.host(), mount.fd(), ".", [](const ws::Mapping &) {}),
		     ws::Error);
}

TEST(AgUsage, IsShownByInfo)
{
	FakeHost fake;

	fake.add_streams({"0-3", "4-7", "8-15"}, 1);
	fake.kernel.tells_usage = true;
	fake.kernel.mappings = {record(in_ag(0, 10), 5, FMR_OWN_FREE, FMR_OF_SPECIAL_OWNER),
				record(in_ag(0, 20), 64, FMR_OWN_FREE, FMR_OF_SPECIAL_OWNER),
				record(in_ag(7), 100, FMR_OWN_FREE, FMR_OF_SPECIAL_OWNER)};
	expect_golden("info-ags.txt", run_wsctl(fake, {"info", "--ags", "."}).out);
	expect_golden("info-ags.json", run_wsctl(fake, {"info", "--ags", "--json", "."}).out);
	// Others than root do not learn of the largest extents.
	fake.kernel.failures[FS_IOC_GETFSMAP] = EPERM;
	const auto ran = run_wsctl(fake, {"info", "--ags", "."});
	EXPECT_EQ(ran.status, 0) << ran.err;
}

} // namespace
