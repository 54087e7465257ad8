// SPDX-License-Identifier: GPL-2.0
// Where "wsctl fio run" runs a job: on plain XFS and on wsfs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ws/kernel.h>

#include "fio_result.h"

namespace wsctl
{

// @path is a directory on wsfs, or on XFS, where the job then runs alone.
// @plain is one on XFS; empty: the same directory as the XFS below wsfs has it.
// @streams is how many the job wants. Throws ws::Error.
std::vector<FioSite> find_fio_sites(const ws::Host &host, const std::string &path,
				    const std::string &plain, std::uint32_t streams);

} // namespace wsctl
