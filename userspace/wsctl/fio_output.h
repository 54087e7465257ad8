// SPDX-License-Identifier: GPL-2.0
// What fio says about a run: its JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wsctl
{

// The jobs of one role, or all of them together; reads and writes.
struct FioRow {
	std::string name;
	std::uint64_t operations = 0;
	std::uint64_t bytes = 0;
	double seconds = 0;
	// Completion latencies in microseconds; nothing where fio tells none.
	std::optional<double> p50;
	std::optional<double> p99;
	std::optional<double> p999;

	[[nodiscard]] double iops() const noexcept;
	[[nodiscard]] double bytes_per_second() const noexcept;
	// At the same time: sums, the longest time and the worst latencies.
	void add(const FioRow &other);
};

// A row for each role, in the job's order. @text may have chatter before and
// behind the JSON. @path is for messages. Throws ws::Error.
std::vector<FioRow> parse_fio_output(std::string_view text, const std::string &path);
// All of them together.
FioRow total_of(const std::vector<FioRow> &rows);

} // namespace wsctl
