// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "golden.h"

namespace
{

class Info : public testing::Test
{
protected:
	// The mount is the fake's directory, which must not show.
	void SetUp() override
	{
		fake_.add_streams({"0-3", "4-7", "8-11,16-17", "12-15,18"}, 2);
		mount("wsfs", R"(/srv/x\040fs)");
	}
	void mount(const std::string &type, const std::string &source,
		   const std::string &options = "rw,streams=4")
	{
		fake_.write(fake_.root / "proc/mountinfo",
			    fmt::format("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
					"70 1 0:51 / {} rw shared:1 - {} {} {}\n",
					fake_.files.string(), type, source, options));
	}
	[[nodiscard]] std::string plain(std::string text) const
	{
		const std::string dir = fake_.files.string();

		for (auto at = text.find(dir); at != std::string::npos; at = text.find(dir))
			text.replace(at, dir.size(), "/mnt/ws");
		return text;
	}

	FakeHost fake_;
};

TEST_F(Info, ShowsEveryMount)
{
	const auto ran = run_wsctl(fake_, {"info"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("info.txt", plain(ran.out));
}

TEST_F(Info, ShowsTheMountOfAPath)
{
	fake_.add("file", {});
	const auto ran = run_wsctl(fake_, {"info", "file"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(plain(ran.out), plain(run_wsctl(fake_, {"info"}).out));
	EXPECT_EQ(run_wsctl(fake_, {"info", "--", "file"}).out, ran.out);
}

TEST_F(Info, ShowsWhatIsSetAside)
{
	mount("wsfs", "/srv/xfs", "rw,streams=4,hints=1,numbered=1");
	const auto ran = run_wsctl(fake_, {"info"});

	EXPECT_NE(ran.out.find(" 8-11,16-17  hints "), std::string::npos) << ran.out;
	EXPECT_NE(ran.out.find(" 12-15,18    numbered "), std::string::npos) << ran.out;
}

TEST_F(Info, WritesJson)
{
	const auto ran = run_wsctl(fake_, {"info", "--json"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("info.json", plain(ran.out));
}

TEST_F(Info, CountsHintsThatWereReset)
{
	fake_.write(fake_.root / "sys/nvme0n1p1/hints_reset", "1\n");
	EXPECT_NE(run_wsctl(fake_, {"info"}).out.find("2 reserved, 1 life time hint reset\n"),
		  std::string::npos);
}

TEST_F(Info, ShowsPlainXfs)
{
	fake_.kernel.type = FakeType::xfs;
	fake_.kernel.failures[FS_IOC_WRITE_STREAM_GET_MAX] = ENOTTY;
	mount("xfs", "/dev/nvme0n1p1");
	const auto ran = run_wsctl(fake_, {"info", "."});
	const auto text = plain(ran.out);

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_TRUE(text.starts_with("/mnt/ws: xfs on /dev/nvme0n1p1 (")) << text;
	EXPECT_NE(text.find("\n  16 AGs of 64 MiB, blocks of 4 KiB\n  no streams: "),
		  std::string::npos)
		<< text;
}

TEST_F(Info, ShowsALowerThatIsNotXfs)
{
	fake_.add_streams({});
	fake_.write(fake_.root / "sys/nvme0n1p1/lower", "ext4\n");
	const auto ran = run_wsctl(fake_, {"info"});
	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_NE(ran.out.find("not XFS"), std::string::npos) << ran.out;
}

TEST_F(Info, SaysWhereThereIsNoMount)
{
	fake_.write(fake_.root / "proc/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	const auto ran = run_wsctl(fake_, {"info"});
	EXPECT_EQ(ran.status, 0);
	EXPECT_NE(ran.out.find("no wsfs mounts"), std::string::npos);
	const auto json = run_wsctl(fake_, {"info", "--json"});
	EXPECT_NE(json.out.find("\"mounts\": []"), std::string::npos);
}

TEST_F(Info, NoticesAHiddenMount)
{
	fake_.kernel.mount = 71;
	const auto ran = run_wsctl(fake_, {"info"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("info-hidden.txt", plain(ran.err));
}

TEST_F(Info, NeedsAKnownFilesystem)
{
	fake_.kernel.type = FakeType::other;
	const auto ran = run_wsctl(fake_, {"info", "."});
	EXPECT_EQ(ran.status, 1);
	EXPECT_EQ(ran.out, "");
	expect_golden("info-other.txt", ran.err);
	EXPECT_EQ(run_wsctl(fake_, {"info", "missing"}).status, 1);
}

TEST_F(Info, TakesOnePath)
{
	EXPECT_EQ(run_wsctl(fake_, {"info", ".", "."}).status, 2);
	EXPECT_EQ(run_wsctl(fake_, {"info", ".", "--", "."}).status, 2);
}

} // namespace
