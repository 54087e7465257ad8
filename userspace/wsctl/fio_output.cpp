// SPDX-License-Identifier: GPL-2.0
#include "fio_output.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <ws/error.h>

#include "fio_plan.h"
#include "json.h"
#include "text.h"

namespace wsctl
{

namespace
{

constexpr const char *unknown_output = "this takes fio 3; see fio --version";

[[noreturn]] void malformed(const std::string &path, const std::string &problem)
{
	throw ws::Error(path, "is no JSON of fio: " + problem, unknown_output);
}

// From the first line that begins with '{' to the last that begins with '}'.
std::string_view without_chatter(std::string_view text, const std::string &path)
{
	const auto begin = text.starts_with('{') ? 0 : text.find("\n{");
	const auto end = text.rfind("\n}");

	if (begin == std::string_view::npos)
		malformed(path, "no line begins with '{'");
	text.remove_prefix(begin);
	return end == std::string_view::npos || end < begin ? text
							    : text.substr(0, end + 2 - begin);
}

const Json &member(const Json &object, const char *key, const std::string &path)
{
	const auto found = object.find(key);

	if (found == object.end())
		malformed(path, fmt::format("there is no '{}'", key));
	return *found;
}

// A number that is not negative.
double number(const Json &object, const char *key, const std::string &path)
{
	const Json &value = member(object, key, path);

	if (!value.is_number() || value.get<double>() < 0)
		malformed(path, fmt::format("'{}' is no count", key));
	return value.get<double>();
}

std::uint64_t count(const Json &object, const char *key, const std::string &path)
{
	// What a double holds exactly; fio counts no further.
	constexpr double most = 1ULL << std::numeric_limits<double>::digits;
	const double value = number(object, key, path);

	if (value > most)
		malformed(path, fmt::format("'{}' is too large", key));
	return static_cast<std::uint64_t>(value);
}

// In microseconds. Which of them fio tells depends on the job's options.
std::optional<double> percentile(const Json &direction, const char *key, const std::string &path)
{
	constexpr double ns_of_us = 1000;

	for (const char *kind : {"clat_ns", "lat_ns"}) {
		const auto latency = direction.find(kind);

		if (latency == direction.end() || !latency->is_object())
			continue;
		const auto table = latency->find("percentile");
		if (table != latency->end() && table->is_object() && table->contains(key))
			return number(*table, key, path) / ns_of_us;
	}
	return std::nullopt;
}

FioRow direction_row(const Json &direction, const std::string &path)
{
	constexpr double ms_of_second = 1000;
	FioRow row;

	row.operations = count(direction, "total_ios", path);
	if (row.operations == 0)
		return row;
	row.bytes = count(direction, "io_bytes", path);
	// fio rounds to milliseconds, down.
	row.seconds = std::max(number(direction, "runtime", path), 1.0) / ms_of_second;
	row.p50 = percentile(direction, "50.000000", path);
	row.p99 = percentile(direction, "99.000000", path);
	row.p999 = percentile(direction, "99.900000", path);
	return row;
}

FioRow job_row(const Json &job, const std::string &path)
{
	const Json &name = member(job, "jobname", path);
	FioRow row;

	if (!name.is_string())
		malformed(path, "'jobname' is no string");
	row.name = role_of(name.get<std::string>());
	if (const auto error = count(job, "error", path); error != 0)
		throw ws::Error(path,
				fmt::format("job {} failed: errno {} ({})",
					    escape(name.get<std::string>()), error,
					    ws::errno_name(static_cast<int>(std::min<std::uint64_t>(
						    error, std::numeric_limits<int>::max())))),
				"run the job by fio alone to see its messages");
	for (const char *kind : {"read", "write"}) {
		const auto direction = job.find(kind);

		if (direction != job.end())
			row.add(direction_row(*direction, path));
	}
	return row;
}

void take_worst(std::optional<double> &worst, const std::optional<double> &other)
{
	if (other)
		worst = std::max(worst.value_or(0), *other);
}

} // namespace

double FioRow::iops() const noexcept
{
	return seconds > 0 ? static_cast<double>(operations) / seconds : 0;
}

double FioRow::bytes_per_second() const noexcept
{
	return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

void FioRow::add(const FioRow &other)
{
	operations += other.operations;
	bytes += other.bytes;
	seconds = std::max(seconds, other.seconds);
	take_worst(p50, other.p50);
	take_worst(p99, other.p99);
	take_worst(p999, other.p999);
}

std::vector<FioRow> parse_fio_output(std::string_view text, const std::string &path)
{
	std::vector<FioRow> rows;
	Json output;

	try {
		output = Json::parse(without_chatter(text, path));
	} catch (const Json::exception &error) {
		malformed(path, escape(error.what()));
	}
	const Json &jobs = member(output, "jobs", path);
	if (!jobs.is_array() || jobs.empty())
		malformed(path, "'jobs' is no list of jobs");
	for (const Json &job : jobs) {
		FioRow row = job_row(job, path);
		const auto known = std::ranges::find(rows, row.name, &FioRow::name);

		if (known == rows.end())
			rows.push_back(std::move(row));
		else
			known->add(row);
	}
	return rows;
}

FioRow total_of(const std::vector<FioRow> &rows)
{
	FioRow total;

	total.name = "total";
	for (const FioRow &row : rows)
		total.add(row);
	return total;
}

} // namespace wsctl
