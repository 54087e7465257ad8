// SPDX-License-Identifier: GPL-2.0
// What came of a job: one run, or the median of several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <ws/stream.h>

#include "context.h"
#include "fio_output.h"
#include "fio_places.h"

namespace wsctl
{

// Of one run.
struct FioResult {
	std::vector<FioRow> rows; // by role
	FioPlacement places;
	// By slot: what was reserved; nothing where the kernel tells no ids.
	std::vector<std::optional<ws::StreamFdInfo>> streams;
};

// One role, or all of them, as it is shown.
struct FioShown {
	std::string role;
	double iops = 0;
	double bytes_per_second = 0;
	std::optional<double> p50; // in microseconds
	std::optional<double> p99;
	std::optional<double> p999;
	std::vector<double> iops_of_rounds;
	FioPlaces places; // of the round with the middle number of extents
	std::vector<std::optional<ws::StreamFdInfo>> streams; // of that round
	std::optional<double> ratio; // of the operations a second, to the first site
};

// One place where the job ran.
struct FioSite {
	std::string name; // "plain XFS", "wsfs"
	std::string dir;
	dev_t device = 0;
	bool streams = false;
	std::vector<FioResult> rounds = {};
	std::vector<FioShown> shown = {}; // by summarize()
};

// Medians of the rounds of each site, which has one at least; the total comes
// last where there are several roles.
void summarize(std::vector<FioSite> &sites);

// What is shown, for people, for programs and as pictures. @job is its file's
// name. write_fio_svg() throws ws::Error.
void write_fio_table(std::ostream &out, const std::string &job, const std::vector<FioSite> &sites);
void write_fio_json(const Context &context, const std::string &job,
		    const std::vector<FioSite> &sites);
void write_fio_svg(const std::string &dir, const std::string &job,
		   const std::vector<FioSite> &sites);

} // namespace wsctl
