// SPDX-License-Identifier: GPL-2.0
// fio's JSON, of whatever version it is, cut off or not.
#include <fio_output.h>

#include <ws/error.h>

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	try {
		const auto rows = wsctl::parse_fio_output(text_of(data, size), "fuzz");
		std::uint64_t operations = 0;

		for (const wsctl::FioRow &row : rows) {
			require(row.iops() >= 0 && row.bytes_per_second() >= 0);
			operations += row.operations;
		}
		require(!rows.empty() && wsctl::total_of(rows).operations == operations);
	} catch (const ws::Error &) {
		return 0;
	}
	return 0;
}
