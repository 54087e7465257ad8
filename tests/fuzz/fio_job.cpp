// SPDX-License-Identifier: GPL-2.0
// Jobs of fio, which anybody may have written. No file of a plan may lie outside
// the directory of the run.
#include <fio_plan.h>

#include <ws/error.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	constexpr std::size_t most_sections = 4; // each may name many files
	const std::string_view text = text_of(data, size);

	wsctl::parse_fio_size(text);
	try {
		const wsctl::FioJob job = wsctl::parse_fio_job(text, "fuzz");

		if (job.sections.size() > most_sections)
			return 0;
		const wsctl::FioPlan plan = wsctl::plan_fio(job, "fuzz");
		for (const wsctl::FioFile &file : plan.files) {
			require(!file.name.empty() && file.name != "." && file.name != "..");
			require(file.name.find_first_of(std::string_view("/\0", 2)) ==
				std::string::npos);
			require(!file.stream || *file.stream < job.streams);
		}
	} catch (const ws::Error &) {
		return 0;
	}
	return 0;
}
