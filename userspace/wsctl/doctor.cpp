// SPDX-License-Identifier: GPL-2.0
#include "doctor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hold/client.h>
#include <ws/error.h>
#include <ws/filesystem.h>
#include <ws/mountinfo.h>
#include <ws/parse.h>
#include <ws/sysfs.h>
#include <ws/xfs_features.h>

#include "text.h"

namespace wsctl
{

namespace
{

constexpr std::string_view machine_subject = "machine";

// The text of a small file, empty where it cannot be read.
std::string text_of(const std::filesystem::path &path)
{
	try {
		return ws::read_file(path);
	} catch (const ws::Error &) {
		return {};
	}
}

bool has_line_ending(const std::string &text, const std::string &word)
{
	std::istringstream lines(text);

	for (std::string line; std::getline(lines, line);) {
		if (line == word || line.ends_with("\t" + word))
			return true;
	}
	return false;
}

class Findings
{
public:
	explicit Findings(std::string subject) : subject_(std::move(subject)) {}

	void add(const std::string &name, Health health, std::string text, std::string advice = "")
	{
		list_.push_back({.subject = subject_,
				 .name = name,
				 .health = health,
				 .text = std::move(text),
				 .advice = std::move(advice)});
	}
	std::vector<Finding> take() { return std::move(list_); }

private:
	std::string subject_;
	std::vector<Finding> list_;
};

struct Version {
	std::uint64_t major = 0;
	std::uint64_t minor = 0;
};

std::optional<Version> version_of(const std::string &release)
{
	const auto dot = release.find('.');
	const auto end =
		release.find_first_not_of("0123456789", dot == release.npos ? dot : dot + 1);
	const auto major = ws::parse_number(release.substr(0, dot));

	if (dot == release.npos || !major)
		return std::nullopt;
	const auto minor = ws::parse_number(
		release.substr(dot + 1, end == release.npos ? end : end - dot - 1));
	if (!minor)
		return std::nullopt;
	return Version{.major = *major, .minor = *minor};
}

bool is_loaded(const Machine &machine)
{
	return has_line_ending(text_of(machine.proc / "filesystems"), "wsfs");
}

void examine_kernel(const Machine &machine, Findings &findings)
{
	const auto version = version_of(machine.release);
	const bool newest =
		version && (version->major > 7 || (version->major == 7 && version->minor >= 3));
	const bool stable = version && version->major == 6 && version->minor == 12;

	if (newest || stable)
		findings.add("kernel", Health::ok, "Linux " + machine.release);
	else
		findings.add("kernel", is_loaded(machine) ? Health::warn : Health::fail,
			     fmt::format("Linux {} is none that wsfs is made for", machine.release),
			     "run a kernel 6.12, or 7.3 or newer");
}

bool is_installed(const Machine &machine)
{
	std::istringstream lines(text_of(machine.modules / machine.release / "modules.dep"));

	for (std::string line; std::getline(lines, line);) {
		const std::string file = line.substr(0, line.find(':'));

		if (file.substr(file.rfind('/') + 1).starts_with("wsfs.ko"))
			return true;
	}
	return false;
}

void examine_module(const Machine &machine, Findings &findings)
{
	const std::string lockdown = text_of(machine.sys / "kernel/security/lockdown");
	const std::string enforced = text_of(machine.sys / "module/module/parameters/sig_enforce");
	const bool locked = lockdown.find("[integrity]") != std::string::npos ||
			    lockdown.find("[confidentiality]") != std::string::npos ||
			    enforced.starts_with('Y');

	if (is_loaded(machine)) {
		findings.add("module", Health::ok, "wsfs is loaded");
		return;
	}
	if (is_installed(machine)) {
		findings.add(
			"module", Health::fail, "wsfs is installed, but not loaded",
			locked ? "sign wsfs.ko with a key that this kernel trusts, then: modprobe "
				 "wsfs"
			       : "modprobe wsfs");
		return;
	}
	findings.add(
		"module", Health::fail,
		fmt::format("wsfs is not installed for Linux {}", machine.release),
		std::filesystem::exists(machine.modules / machine.release / "build/Makefile")
			? "install the package wsfs-dkms, or in the sources: make && make install "
			  "&& depmod"
			: fmt::format(
				  "install the headers (apt-get install linux-headers-{}), then "
				  "the package wsfs-dkms",
				  machine.release));
	if (locked)
		findings.add("signature", Health::warn, "this kernel loads only signed modules",
			     "sign wsfs.ko with a key that this kernel trusts (mokutil --import)");
}

void examine_rights(const ws::Host &host, Findings &findings)
{
	constexpr unsigned sys_admin = 21; // CAP_SYS_ADMIN
	constexpr int hexadecimal = 16;
	const std::string status = text_of(host.proc_self / "status");
	const auto at = status.find("CapEff:\t");
	const unsigned long long effective =
		at == std::string::npos
			? 0
			: std::strtoull(status.c_str() + at + std::string_view("CapEff:\t").size(),
					nullptr, hexadecimal);

	if ((effective >> sys_admin & 1U) != 0)
		findings.add("capability", Health::ok, "this process may reserve streams");
	else
		findings.add(
			"capability", Health::warn,
			"this process may set streams that it is given, but not reserve any "
			"(CAP_SYS_ADMIN)",
			"run as root, or let root hold streams for a group: wsctl hold --group");
}

void examine_broker(const Machine &machine, Findings &findings)
{
	try {
		const auto result = hold::ask(machine.hold_socket, {.verb = hold::Verb::list});

		findings.add("broker", Health::ok,
			     fmt::format("wsfs-holdd answers, {} held",
					 plural(result.held.size(), "reservation")));
	} catch (const ws::Error &error) {
		const bool absent = error.code() == ENOENT || error.code() == ECONNREFUSED;

		findings.add("broker", absent ? Health::note : Health::warn,
			     absent ? "wsfs-holdd does not run, so 'wsctl hold' does not work"
				    : fmt::format("wsfs-holdd: {}", error.reason()),
			     error.advice());
	}
}

bool is_program(const Machine &machine, const std::string &name)
{
	std::istringstream dirs(machine.path);

	for (std::string dir; std::getline(dirs, dir, ':');) {
		dir.append("/").append(name);
		if (access(dir.c_str(), X_OK) == 0)
			return true;
	}
	return false;
}

void examine_programs(const Machine &machine, Findings &findings)
{
	struct Program {
		const char *name;
		const char *package;
		const char *use;
	};
	constexpr std::array programs{
		Program{"mkfs.xfs", "xfsprogs", "make the filesystem below"},
		Program{"xfs_growfs", "xfsprogs", "give it more AGs"},
	};

	for (const auto &[name, package, use] : programs) {
		if (is_program(machine, name))
			findings.add(name, Health::ok, fmt::format("{} is there", name));
		else
			findings.add(name, Health::note,
				     fmt::format("{} is missing, needed to {}", name, use),
				     fmt::format("apt-get install {}", package));
	}
}

bool has_option(const std::string &options, std::string_view wanted)
{
	std::istringstream words(options);

	for (std::string word; std::getline(words, word, ',');) {
		if (word == wanted)
			return true;
	}
	return false;
}

void examine_features(const ws::XfsFeatures &features, Findings &findings)
{
	if (features.crc)
		findings.add("crc", Health::ok, "metadata has checksums (crc=1)");
	else
		findings.add(
			"crc", Health::warn,
			"this is the old format of XFS (crc=0), which later kernels do not mount",
			"make the filesystem anew: mkfs.xfs, and copy the data");
	if (features.reflink)
		findings.add("reflink", Health::ok, "files can share extents (reflink=1)");
	else
		findings.add(
			"reflink", Health::warn,
			"no reflink: a file that has data before its stream is set stays where it "
			"is",
			"set streams while files are empty; for the rest, mkfs.xfs -m reflink=1");
	if (features.rmapbt)
		findings.add("rmapbt", Health::ok, "it is known whose each block is (rmapbt=1)");
	else
		findings.add(
			"rmapbt", Health::note,
			"no reverse map (rmapbt=0): who owns an AG's blocks is found file by file",
			"");
	if (features.agcount == 1)
		findings.add("agcount", Health::fail, "there is one AG, so nothing can lie apart",
			     "mkfs.xfs -d agcount=16, or more");
	else
		findings.add("agcount", Health::ok, fmt::format("{} AGs", features.agcount));
	if (features.realtime)
		findings.add("realtime", Health::note,
			     "files on the realtime volume cannot have a stream");
}

// The entry of the XFS with this device number, for its mount options.
const ws::MountEntry *xfs_entry(const std::vector<ws::MountEntry> &mounts, const std::string &below)
{
	const auto found = std::ranges::find_if(mounts, [&](const ws::MountEntry &entry) {
		return entry.type == "xfs" &&
		       (below == entry.mount_point ||
			below.starts_with(entry.mount_point == "/" ? "/"
								   : entry.mount_point + "/"));
	});

	return found == mounts.end() ? nullptr : &*found;
}

void examine_options(const ws::MountEntry &xfs, Findings &findings)
{
	const std::string &options = xfs.super_options;

	if (has_option(options, "inode32"))
		findings.add(
			"inode32", Health::warn,
			"inode32 keeps inodes out of the AGs behind the first 2^32 of them, so "
			"streams there get no files",
			"mount the XFS with -o inode64");
	if (has_option(options, "filestreams"))
		findings.add(
			"filestreams", Health::fail,
			"the filestreams allocator is on, which excludes write streams (EBUSY)",
			"mount the XFS without -o filestreams");
	if (has_option(options, "ro"))
		findings.add("read-only", Health::warn, "the XFS is mounted read-only",
			     fmt::format("mount -o remount,rw {}", escape(xfs.mount_point)));
	if (has_option(options, "norecovery"))
		findings.add("norecovery", Health::warn,
			     "the XFS is mounted without recovery of its log",
			     "mount it without -o norecovery");
}

void examine_streams(const ws::Host &host, const ws::Filesystem &filesystem, Findings &findings)
{
	const auto state = ws::read_device(host, filesystem.dev);

	if (state.lower != "xfs") {
		findings.add("streams", Health::fail,
			     fmt::format("the filesystem below is {}, which has no streams",
					 escape(state.lower)),
			     "mount wsfs over XFS");
		return;
	}
	if (state.streams.empty()) {
		findings.add("streams", Health::fail, "no streams (mounted with streams=0)",
			     "mount without streams=, or with another number");
		return;
	}
	const bool none_free = state.reserved() == state.streams.size();
	findings.add("streams", none_free ? Health::warn : Health::ok,
		     fmt::format("{}, {} reserved", plural(state.streams.size(), "stream"),
				 state.reserved()),
		     none_free
			     ? "end a holder ('wsctl streams' lists them), or mount with more: -o "
			       "streams=N"
			     : "");
	if (state.streams.size() > filesystem.geometry.ags.count)
		findings.add("shared-ags", Health::warn,
			     fmt::format("{} share {}", plural(state.streams.size(), "stream"),
					 plural(filesystem.geometry.ags.count, "AG")),
			     "use as many streams as AGs at most, or mkfs.xfs with more AGs");
	const auto sum = [&](auto member) {
		std::uint64_t total = 0;

		for (const ws::StreamState &stream : state.streams)
			total += stream.*member;
		return total;
	};
	const std::uint64_t missed = sum(&ws::StreamState::missed);
	const std::uint64_t homed = sum(&ws::StreamState::homed);
	if (missed != 0)
		findings.add(
			"missed", Health::warn,
			fmt::format("{} of {} are not where they should be", missed,
				    plural(missed + homed, "file")),
			"'wsctl check' shows which; set streams while files are empty, and leave "
			"room in the AGs");
}

void examine_device(const Machine &machine, const ws::Filesystem &filesystem, Findings &findings)
{
	const auto dir = machine.sys / "dev/block" /
			 fmt::format("{}:{}", major(filesystem.device), minor(filesystem.device));
	const auto disk = std::filesystem::exists(dir / "partition") ? dir / ".." : dir;
	const auto streams = ws::parse_number(ws::trim(text_of(disk / "queue/max_write_streams")));

	if (ws::trim(text_of(disk / "queue/rotational")) == "1")
		findings.add("device", Health::note,
			     "a rotating disk: writers apart from each other make it seek");
	if (streams && *streams != 0)
		findings.add("write-streams", Health::note,
			     fmt::format("the device has {} of its own",
					 plural(*streams, "write stream")));
}

std::vector<Finding> examine_mount(const ws::Host &host, const Machine &machine,
				   const ws::MountEntry &entry,
				   const std::vector<ws::MountEntry> &mounts)
{
	Findings findings(entry.mount_point);

	try {
		const ws::UniqueFd fd = ws::open_for_info(entry.mount_point);
		const ws::Filesystem filesystem =
			ws::Filesystem::of(host, fd.get(), entry.mount_point);
		const bool stacked = filesystem.type == ws::Filesystem::Type::wsfs;
		const ws::MountEntry *xfs = stacked ? xfs_entry(mounts, entry.source) : &entry;
		auto features = ws::read_xfs_features(host, fd.get());

		if (stacked)
			findings.add("mount", Health::ok,
				     fmt::format("wsfs over {}", escape(entry.source)));
		else if (filesystem.streams != 0)
			findings.add("mount", Health::ok,
				     fmt::format("XFS with {} of its own",
						 plural(filesystem.streams, "stream")));
		else
			findings.add("mount", Health::warn, "plain XFS, which has no streams",
				     fmt::format("mount -t wsfs {} MOUNTPOINT",
						 escape(entry.mount_point)));
		if (stacked && !features && xfs) {
			const ws::UniqueFd below = ws::open_for_info(xfs->mount_point);

			features = ws::read_xfs_features(host, below.get());
		}
		if (stacked)
			examine_streams(host, filesystem, findings);
		if (features)
			examine_features(*features, findings);
		if (xfs)
			examine_options(*xfs, findings);
		examine_device(machine, filesystem, findings);
	} catch (const ws::Error &error) {
		findings.add("mount", Health::fail, error.reason(), error.advice());
	}
	return findings.take();
}

} // namespace

std::string_view health_name(Health health) noexcept
{
	switch (health) {
	case Health::ok:
		return "ok";
	case Health::note:
		return "note";
	case Health::warn:
		return "warn";
	case Health::fail:
		break;
	}
	return "fail";
}

Machine Machine::here()
{
	utsname name = {};
	const char *path = std::getenv("PATH");
	Machine machine;

	uname(&name);
	machine.release = static_cast<const char *>(name.release);
	machine.hold_socket = hold::socket_path("");
	// Where an unprivileged shell does not look.
	machine.path = std::string(path ? path : "") + ":/usr/sbin:/sbin";
	return machine;
}

std::vector<Finding> examine_machine(const ws::Host &host, const Machine &machine)
{
	Findings findings{std::string(machine_subject)};

	examine_kernel(machine, findings);
	examine_module(machine, findings);
	examine_rights(host, findings);
	examine_broker(machine, findings);
	examine_programs(machine, findings);
	return findings.take();
}

std::vector<Finding> examine_mounts(const ws::Host &host, const Machine &machine,
				    const std::string &path)
{
	const std::vector<ws::MountEntry> mounts = ws::read_mounts(host);
	std::vector<ws::MountEntry> chosen;
	std::vector<Finding> all;

	if (!path.empty()) {
		const ws::UniqueFd fd = ws::open_for_info(path);
		const auto id = host.kernel.mount_id(fd.get());

		std::ranges::copy_if(mounts, std::back_inserter(chosen),
				     [&](const auto &entry) { return id && entry.id == *id; });
		// The file itself is what can be opened for sure.
		for (const ws::MountEntry &entry : chosen) {
			if (entry.type != "wsfs" && entry.type != "xfs")
				throw ws::Error(path, fmt::format("is on {}", escape(entry.type)),
						"use a path on a wsfs or XFS filesystem");
		}
	} else {
		for (const char *type : {"wsfs", "xfs"}) {
			if (chosen.empty())
				std::ranges::copy_if(
					mounts, std::back_inserter(chosen),
					[&](const auto &entry) { return entry.type == type; });
		}
	}
	for (const ws::MountEntry &entry : chosen)
		std::ranges::move(examine_mount(host, machine, entry, mounts),
				  std::back_inserter(all));
	return all;
}

} // namespace wsctl
