// SPDX-License-Identifier: GPL-2.0
// The workloads that "wsctl fio gen" knows by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fio_job.h"

namespace wsctl
{

// Jobs that do the same kind of writing.
struct FioRole {
	std::string name;
	std::uint32_t jobs = 1;
	std::uint32_t files = 1;     // of each job
	std::uint32_t stream = 0;    // the first one
	std::uint32_t streams = 1;   // job j gets stream + j modulo streams
	std::string filesize = "1g"; // of each file
	FioOptions options;
};

struct FioScenario {
	std::string name;
	std::string about;
	FioOptions options; // of all jobs
	std::vector<FioRole> roles;
};

// All of them, as they are without settings.
const std::vector<FioScenario> &fio_scenarios();
// Throws ws::Error.
FioScenario find_fio_scenario(const std::string &name);
// "KEY=VALUE" for all roles, or "ROLE.KEY=VALUE". jobs, files, stream, streams
// and filesize are a role's own; any other key is an option of fio. Throws
// ws::Error.
void apply_setting(FioScenario &scenario, const std::string &setting);
// @command_line is what made it, for a comment. Throws ws::Error.
FioJob make_fio_job(const FioScenario &scenario, const std::string &command_line);

} // namespace wsctl
