// SPDX-License-Identifier: GPL-2.0
#include "fio_job.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/parse.h>

#include "text.h"

namespace wsctl
{

namespace
{

constexpr std::string_view mark = "wsctl:";
constexpr const char *job_form = "see fio(1), JOB FILE FORMAT";

// The value of @key in "; wsctl: streams=4", where it is there.
std::optional<std::uint32_t> value_in(std::string_view comment, std::string_view key,
				      std::uint32_t most, const std::string &path)
{
	std::string_view rest = ws::trim(comment);

	if (!rest.starts_with(mark))
		return std::nullopt;
	rest = ws::trim(rest.substr(mark.size()));
	const auto equals = rest.find('=');
	if (equals == std::string_view::npos || ws::trim(rest.substr(0, equals)) != key)
		return std::nullopt;
	const auto value = ws::parse_number(ws::trim(rest.substr(equals + 1)), most);
	if (!value)
		throw ws::Error(path,
				fmt::format("'{}' has no number from 0 to {}",
					    escape(ws::trim(comment)), most),
				"write '; wsctl: stream=0', or '; wsctl: streams=4'");
	return static_cast<std::uint32_t>(*value);
}

class Parser
{
public:
	explicit Parser(const std::string &path) : path_(path) {}

	void line(std::string_view line);
	FioJob finish();

private:
	void comment(std::string_view text);
	void section(std::string_view line);
	void option(std::string_view line);

	const std::string &path_;
	FioJob job_;
	std::uint32_t highest_ = 0;
};

void Parser::line(std::string_view line)
{
	if (line.empty())
		return;
	if (line[0] == ';' || line[0] == '#')
		comment(line.substr(1));
	else if (line[0] == '[')
		section(line);
	else
		option(line);
}

void Parser::comment(std::string_view text)
{
	if (const auto streams = value_in(text, "streams", fio_max_streams, path_))
		job_.streams = *streams;
	const auto stream = value_in(text, "stream", fio_max_streams - 1, path_);
	if (!stream)
		return;
	if (job_.sections.empty())
		throw ws::Error(path_, "a stream is named before the first section",
				"write '; wsctl: stream=0' behind the [section]");
	job_.sections.back().stream = stream;
	highest_ = std::max(highest_, *stream + 1);
}

void Parser::section(std::string_view line)
{
	const auto close = line.find(']');

	if (close == std::string_view::npos)
		throw ws::Error(path_, fmt::format("'{}' lacks its ']'", escape(line)), job_form);
	job_.sections.push_back(
		{.name = std::string(line.substr(1, close - 1)), .options = {}, .stream = {}});
}

void Parser::option(std::string_view line)
{
	const auto equals = line.find('=');
	const std::string_view name = ws::trim(line.substr(0, equals));

	if (job_.sections.empty())
		throw ws::Error(path_,
				fmt::format("'{}' stands before the first section", escape(line)),
				job_form);
	job_.sections.back().options.emplace_back(
		name, equals == std::string_view::npos ? "" : ws::trim(line.substr(equals + 1)));
}

FioJob Parser::finish()
{
	if (job_.sections.empty())
		throw ws::Error(path_, "has no [section]", "make a job with: wsctl fio gen");
	job_.streams = std::max(job_.streams, highest_);
	return std::move(job_);
}

} // namespace

const std::string *find_option(const FioOptions &options, std::string_view name) noexcept
{
	// fio goes by the last one.
	const auto found = std::find_if(options.rbegin(), options.rend(),
					[&](const auto &entry) { return entry.first == name; });

	return found == options.rend() ? nullptr : &found->second;
}

void set_option(FioOptions &options, const std::string &name, const std::string &value)
{
	const auto found = std::ranges::find_if(
		options, [&](const auto &entry) { return entry.first == name; });

	if (found == options.end()) {
		options.emplace_back(name, value);
		return;
	}
	found->second = value;
	options.erase(std::remove_if(std::next(found), options.end(),
				     [&](const auto &entry) { return entry.first == name; }),
		      options.end());
}

std::string format(const FioJob &job)
{
	std::string text;

	for (const std::string &line : job.comments)
		text += fmt::format("; {}\n", line);
	text += fmt::format("; {} streams={}\n", mark, job.streams);
	for (const FioSection &section : job.sections) {
		text += fmt::format("\n[{}]\n", section.name);
		if (section.stream)
			text += fmt::format("; {} stream={}\n", mark, *section.stream);
		for (const auto &[option, value] : section.options)
			text += value.empty() ? option + "\n"
					      : fmt::format("{}={}\n", option, value);
	}
	return text;
}

FioJob parse_fio_job(std::string_view text, const std::string &path)
{
	Parser parser(path);

	while (!text.empty()) {
		const auto end = std::min(text.find('\n'), text.size());

		parser.line(ws::trim(text.substr(0, end)));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return parser.finish();
}

std::optional<std::uint64_t> parse_fio_size(std::string_view text)
{
	constexpr std::array<char, 5> units{'k', 'm', 'g', 't', 'p'};
	constexpr unsigned bits = 10;
	const auto digits = text.find_first_not_of("0123456789");
	const auto number = ws::parse_number(text.substr(0, digits));
	unsigned shift = 0;

	if (!number)
		return std::nullopt;
	if (digits != std::string_view::npos) {
		std::string unit(text.substr(digits));

		std::ranges::transform(unit, unit.begin(),
				       [](unsigned char c) { return std::tolower(c); });
		const auto *const found = std::ranges::find(units, unit[0]);
		const std::string rest = unit.substr(1);
		if (found == units.end() || (!rest.empty() && rest != "b" && rest != "ib"))
			return std::nullopt;
		shift = bits * static_cast<unsigned>(found - units.begin() + 1);
	}
	if (*number > std::numeric_limits<std::uint64_t>::max() >> shift)
		return std::nullopt;
	return *number << shift;
}

} // namespace wsctl
