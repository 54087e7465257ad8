// SPDX-License-Identifier: GPL-2.0
#include "doctor.h"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ws/error.h>

#include "doctor_report.h"
#include "golden.h"

namespace
{

using wsctl::Finding;
using wsctl::Health;

class Doctor : public testing::Test
{
protected:
	void SetUp() override
	{
		machine.proc = fake.root / "proc";
		machine.sys = fake.root / "sys";
		machine.modules = fake.root / "modules";
		machine.release = "7.3.4";
		machine.hold_socket = fake.root / "hold.sock";
		machine.path = fake.root / "bin";
		for (const char *program : {"mkfs.xfs", "xfs_growfs"}) {
			fake.write(fake.root / "bin" / program, "");
			std::filesystem::permissions(fake.root / "bin" / program,
						     std::filesystem::perms::owner_all);
		}
		fake.write(fake.root / "proc/filesystems", "nodev\ttmpfs\n\txfs\nnodev\twsfs\n");
		fake.write(fake.root / "proc/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	}
	std::string machine_text() { return text(wsctl::examine_machine(fake.host(), machine)); }
	std::string mounts_text(const std::string &path = "")
	{
		return text(wsctl::examine_mounts(fake.host(), machine, path));
	}
	static std::string text(const std::vector<Finding> &findings)
	{
		std::string all;

		for (const Finding &finding : findings)
			all += fmt::format("{} {} {}: {}{}{}\n", finding.subject,
					   wsctl::health_name(finding.health), finding.name,
					   finding.text, finding.advice.empty() ? "" : " | ",
					   finding.advice);
		// Differs from run to run.
		for (auto at = all.find(fake_root()); at != std::string::npos;
		     at = all.find(fake_root()))
			all.replace(at, fake_root().size(), "ROOT");
		return all;
	}
	static std::string &fake_root()
	{
		static std::string root;

		return root;
	}
	void mount(const std::string &options = "rw,attr2,inode64")
	{
		const std::string base = fake.root;

		std::filesystem::create_directories(fake.root / "lower");
		fake.write(fake.root / "proc/mountinfo",
			   fmt::format("69 1 259:1 / {0}/lower rw - xfs /dev/nvme0n1p1 {1}\n"
				       "70 1 0:50 / {0}/files rw - wsfs {0}/lower rw\n",
				       base, options));
	}

	FakeHost fake;
	wsctl::Machine machine;

public:
	Doctor() { fake_root() = fake.root; }
};

Health health_of(const std::vector<Finding> &findings, const std::string &name)
{
	const auto found = std::ranges::find(findings, name, &Finding::name);

	return found == findings.end() ? Health::note : found->health;
}

TEST_F(Doctor, IsContentWhereAllIsThere)
{
	expect_golden("doctor-machine.txt", machine_text());
	fake.add_streams({"0-3", "4-7", "8-11", "12-15"}, 1);
	mount();
	expect_golden("doctor-mount.txt", mounts_text());
}

TEST_F(Doctor, SaysWhatToDoWithoutTheModule)
{
	fake.write(fake.root / "proc/filesystems", "\txfs\n");
	fake.write(fake.root / "proc/status", "CapEff:\t0000000000000000\n");
	std::filesystem::remove_all(fake.root / "bin");
	expect_golden("doctor-nothing.txt", machine_text());
	fake.write(fake.root / "modules/7.3.4/build/Makefile", "");
	EXPECT_THAT(machine_text(), testing::HasSubstr("make install"));
	fake.write(fake.root / "sys/kernel/security/lockdown",
		   "none [integrity] confidentiality\n");
	fake.write(fake.root / "modules/7.3.4/modules.dep",
		   "updates/dkms/wsfs.ko.xz: kernel/xfs.ko\n");
	EXPECT_THAT(machine_text(), testing::HasSubstr("installed, but not loaded | sign wsfs.ko"));
}

TEST_F(Doctor, KnowsTheKernels)
{
	const auto health = [&](const std::string &release) {
		machine.release = release;
		return health_of(wsctl::examine_machine(fake.host(), machine), "kernel");
	};

	for (const char *good :
	     {"6.12.0", "6.12.90+deb13-amd64", "7.3", "7.3-rc1", "7.10.1", "8.0.0"})
		EXPECT_EQ(health(good), Health::ok) << good;
	for (const char *bad : {"6.1.0", "6.13.1", "7.2.9", "5.15", "", "x.y", "6"})
		EXPECT_EQ(health(bad), Health::warn) << bad;
	fake.write(fake.root / "proc/filesystems", "");
	EXPECT_EQ(health("6.1.0"), Health::fail);
}

TEST_F(Doctor, SeesWhatIsInTheWay)
{
	fake.add_streams({"0", "0"}, 2);
	fake.kernel.ag_count = 1;
	fake.kernel.modern = false;
	mount("ro,inode32,filestreams,norecovery");
	expect_golden("doctor-bad-mount.txt", mounts_text());
}

TEST_F(Doctor, LooksAtPlainXfs)
{
	fake.kernel.type = FakeType::xfs;
	fake.write(fake.root / "proc/mountinfo",
		   fmt::format("70 1 259:1 / {}/files rw - xfs /dev/sda1 rw\n",
			       std::string(fake.root)));
	expect_golden("doctor-plain.txt", mounts_text());
	EXPECT_EQ(mounts_text("."), mounts_text());
}

TEST_F(Doctor, RefusesOtherFilesystems)
{
	fake.write(fake.root / "proc/mountinfo",
		   fmt::format("70 1 0:7 / {}/files rw - tmpfs t rw\n", std::string(fake.root)));
	EXPECT_THROW(wsctl::examine_mounts(fake.host(), machine, "."), ws::Error);
	EXPECT_TRUE(wsctl::examine_mounts(fake.host(), machine, "").empty());
}

TEST_F(Doctor, WritesItForPeopleAndForPrograms)
{
	const std::vector<Finding> found = {
		{.subject = "machine",
		 .name = "kernel",
		 .health = Health::ok,
		 .text = "Linux 7.3.4",
		 .advice = ""},
		{.subject = "machine",
		 .name = "module",
		 .health = Health::fail,
		 .text = "wsfs is installed, but not loaded",
		 .advice = "modprobe wsfs"},
		{.subject = "/mnt/a\n\xff",
		 .name = "mount",
		 .health = Health::warn,
		 .text = "plain XFS, which has no streams",
		 .advice = "mount -t wsfs /mnt/a MOUNTPOINT"},
		{.subject = "/mnt/a\n\xff",
		 .name = "rmapbt",
		 .health = Health::note,
		 .text = "no reverse map",
		 .advice = ""},
	};
	const auto written = [&](const auto &write, bool colour = false) {
		std::ostringstream out;

		write(wsctl::Context{.host = fake.host(),
				     .out = out,
				     .err = out,
				     .colour = colour,
				     .command = "doctor"});
		return out.str();
	};
	const auto text = [&](bool quiet) {
		return [&found, quiet](const wsctl::Context &context) {
			wsctl::write_findings(context, found, quiet);
		};
	};

	expect_golden("doctor.txt", written(text(false)));
	expect_golden("doctor-quiet.txt", written(text(true)));
	EXPECT_NE(written(text(false), true), written(text(false)));
	expect_golden("doctor.json", written([&](const wsctl::Context &context) {
			      wsctl::write_findings_json(context, found);
		      }));
	EXPECT_FALSE(wsctl::is_well(found));
	EXPECT_TRUE(wsctl::is_well({found[0], found[2], found[3]}));
}

TEST_F(Doctor, WritesJson)
{
	fake.add_streams({"0-7", "8-15"});
	mount();
	const auto ran = run_wsctl(fake, {"doctor", "--json"});
	const auto json = nlohmann::json::parse(ran.out);
	const auto &list = json["findings"];
	const auto failed = std::ranges::any_of(
		list, [](const auto &finding) { return finding["result"] == "fail"; });

	// The machine is the real one here, and may be anything.
	EXPECT_EQ(ran.status, failed ? 1 : 0);
	EXPECT_EQ(json["ok"], !failed);
	EXPECT_EQ(json["command"], "doctor");
	EXPECT_EQ(list[0]["subject"], "machine");
	EXPECT_EQ(list[0]["name"], "kernel");
}

} // namespace
