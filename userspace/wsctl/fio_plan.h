// SPDX-License-Identifier: GPL-2.0
// What "wsctl fio run" has to know of a job: the files that it writes, and the
// stream of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fio_job.h"

namespace wsctl
{

struct FioFile {
	std::string name; // in the directory of the run
	std::string role;
	std::optional<std::uint32_t> stream; // slot
};

struct FioPlan {
	FioJob job; // as fio gets it: in the directory where it is started
	std::vector<FioFile> files;
	std::uint64_t bytes = 0;   // to write, 0 where the job does not tell
	std::uint64_t seconds = 0; // the job's runtime=, 0 for none
};

// "flush" of "flush.1"; a name without such a number is a role of its own.
std::string role_of(std::string_view section);
// Throws ws::Error on a job whose files cannot be told or lie elsewhere; @path
// is for messages.
FioPlan plan_fio(const FioJob &job, const std::string &path);

} // namespace wsctl
