// SPDX-License-Identifier: GPL-2.0
// What works on this machine, what does not, and what to do about it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <ws/kernel.h>

namespace wsctl
{

enum class Health {
	ok,
	note, // worth knowing
	warn, // something works less well, or not for everybody
	fail, // streams do not work
};

struct Finding {
	std::string subject; // "machine", or a mount point
	std::string name;    // of the check; does not change between versions
	Health health;
	std::string text;
	std::string advice; // empty where there is nothing to do
};

// The machine, or what a test made up.
struct Machine {
	std::filesystem::path proc = "/proc";
	std::filesystem::path sys = "/sys";
	std::filesystem::path modules = "/lib/modules";
	std::string release; // as uname -r says
	std::string hold_socket;
	std::string path; // where programs are looked for, as in $PATH

	static Machine here();
};

std::vector<Finding> examine_machine(const ws::Host &host, const Machine &machine);
// @path: a file or directory on the filesystem; empty: all mounts of wsfs, or
// of XFS where there are none.
std::vector<Finding> examine_mounts(const ws::Host &host, const Machine &machine,
				    const std::string &path);

std::string_view health_name(Health health) noexcept;

} // namespace wsctl
