// SPDX-License-Identifier: GPL-2.0
#include <filesystem>

#include <gtest/gtest.h>

#include <ws/holders.h>

#include "golden.h"

namespace
{

class Streams : public testing::Test
{
protected:
	void SetUp() override
	{
		fake_.add_streams({"0-3", "4-7", "8-11", "12-15"}, 3);
		FakeHost::write(fake_.root / "proc" / "mountinfo",
				"70 29 0:45 / " + fake_.files.string() +
					" rw - wsfs /srv/xfs rw,streams=4\n");
		process(100, {"my-database", "--wal", "a\nb"},
			{{.fd = 5, .stream = 0}, {.fd = 7, .stream = 1}});
		process(99, {"wsctl", "run"}, {{.fd = 3, .stream = 0}});
		process(101, {}, {});
		process(102, {"other-device"}, {{.fd = 4, .stream = 1, .dev = "sdb"}});
		FakeHost::write(fake_.root / "processes" / "meminfo", "");
	}

	struct Fd {
		int fd;
		int stream;
		std::string dev = "nvme0n1p1";
	};

	void process(int pid, const std::vector<std::string> &command,
		     const std::vector<Fd> &fds) const
	{
		const auto dir = fake_.root / "processes" / std::to_string(pid);
		std::string line;

		for (const std::string &word : command)
			line += word + '\0';
		FakeHost::write(dir / "cmdline", line);
		FakeHost::write(dir / "comm", "kworker\n");
		FakeHost::write(dir / "fdinfo" / "0", "pos:\t0\nflags:\t02\n");
		std::filesystem::create_directories(dir / "fd");
		std::filesystem::create_symlink("/dev/null", dir / "fd" / "0");
		for (const Fd &fd : fds) {
			FakeHost::write(dir / "fdinfo" / std::to_string(fd.fd),
					"stream:\t" + std::to_string(fd.stream) + "\nag_set:\t" +
						std::to_string(4 * fd.stream) + "-" +
						std::to_string(4 * fd.stream + 3) +
						"\nfiles:\t0\nbytes:\t0\n" +
						(fd.dev.empty() ? "" : "dev:\t" + fd.dev + "\n"));
			std::filesystem::create_symlink("anon_inode:[write_stream]",
							dir / "fd" / std::to_string(fd.fd));
		}
	}

	std::string scrub(std::string text) const
	{
		const std::string files = fake_.files.string();

		for (auto at = text.find(files); at != std::string::npos; at = text.find(files))
			text.replace(at, files.size(), "/mnt/ws");
		return text;
	}

	FakeHost fake_;
};

TEST_F(Streams, ShowsWhoHoldsThem)
{
	const auto ran = run_wsctl(fake_, {"streams"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("streams.txt", scrub(ran.out));
	expect_golden("streams-all.txt", scrub(run_wsctl(fake_, {"streams", "--all", "."}).out));
}

TEST_F(Streams, WritesJson)
{
	const auto ran = run_wsctl(fake_, {"streams", "--json"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("streams.json", scrub(ran.out));
}

TEST_F(Streams, AreSetAside)
{
	fake_.add_streams({"0-3", "4-7", "8-11", "12-15"}, 4);
	FakeHost::write(fake_.root / "proc" / "mountinfo",
			"70 29 0:45 / " + fake_.files.string() +
				" rw - wsfs /srv/xfs rw,streams=4,hints=1,numbered=1\n");
	const auto ran = run_wsctl(fake_, {"streams", "."});

	EXPECT_NE(ran.out.find("-  (hints: short, medium, long, extreme)\n"), std::string::npos)
		<< ran.out;
	EXPECT_NE(ran.out.find("-  (number 1)\n"), std::string::npos) << ran.out;
	EXPECT_EQ(ran.out.find("not shown"), std::string::npos) << ran.out;
}

TEST_F(Streams, GoByTheAgSetWhereTheDeviceIsNotTold)
{
	process(103, {"old-kernel"}, {{.fd = 9, .stream = 2, .dev = ""}});
	EXPECT_NE(run_wsctl(fake_, {"streams"}).out.find("103  old-kernel"), std::string::npos);
}

TEST_F(Streams, CanBeWatched)
{
	const auto once = run_wsctl(fake_, {"streams"});
	const auto watched =
		run_wsctl(fake_, {"streams", "--watch", "--interval", "0.01", "--count", "3"});

	EXPECT_EQ(watched.out, once.out + once.out + once.out);
	const auto json = run_wsctl(
		fake_, {"streams", "--json", "--watch", "--interval", "0.01", "--count", "2"});
	EXPECT_EQ(std::count(json.out.begin(), json.out.end(), '\n'), 2);
}

TEST_F(Streams, NeedAMountThatHasSome)
{
	fake_.kernel.type = FakeType::xfs;
	const auto ran = run_wsctl(fake_, {"streams", "."});
	EXPECT_EQ(ran.status, 1);
	EXPECT_NE(ran.err.find("plain XFS"), std::string::npos);
	EXPECT_EQ(run_wsctl(fake_, {"streams", "missing"}).status, 1);
	EXPECT_EQ(run_wsctl(fake_, {"streams", "a", "b"}).status, 2);
	EXPECT_EQ(run_wsctl(fake_, {"streams", "--interval", "0"}).status, 2);
}

TEST(Holders, MakeOneLineOfACommand)
{
	using namespace std::string_literals;

	EXPECT_EQ(ws::command_text("a\0b c\0\0"s), "a b c");
	EXPECT_EQ(ws::command_text(""), "");
	EXPECT_EQ(ws::command_text("\0\0"s), "");
}

} // namespace
