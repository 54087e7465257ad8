// SPDX-License-Identifier: GPL-2.0
#include "fio_plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/parse.h>

#include "text.h"

namespace wsctl
{

namespace
{

constexpr std::string_view file_number = "$filenum";
constexpr const char *name_files =
	"name them by filename=A:B, or by nrfiles=N and filename_format=NAME.$filenum";

bool is_global(const FioSection &section)
{
	return section.name == "global";
}

// "a:b\:c" as fio reads it.
std::vector<std::string> split_names(std::string_view text)
{
	std::vector<std::string> names(1);

	for (std::size_t i = 0; i < text.size(); i++) {
		if (text[i] == '\\' && i + 1 < text.size())
			names.back() += text[++i];
		else if (text[i] == ':')
			names.emplace_back();
		else
			names.back() += text[i];
	}
	std::erase(names, "");
	return names;
}

class Planner
{
public:
	Planner(const FioJob &job, const std::string &path) : path_(path) { plan_.job = job; }
	FioPlan plan();

private:
	[[noreturn]] void refuse(const FioSection &section, const std::string &problem,
				 const std::string &advice) const;
	void check(const FioSection &section) const;
	[[nodiscard]] std::vector<std::string> names_of(const FioSection &section) const;
	[[nodiscard]] std::vector<std::string> numbered(const FioSection &section,
							const std::string &form) const;
	[[nodiscard]] const std::string *option(const FioSection &section,
						std::string_view name) const;
	void add(const FioSection &section);
	void add_amount(const FioSection &section, std::size_t files);

	const std::string &path_;
	FioPlan plan_;
	FioOptions global_; // so far
	std::optional<std::uint32_t> global_stream_;
	std::map<std::string, std::optional<std::uint32_t>> streams_; // by file
	bool all_told_ = true;
};

void Planner::refuse(const FioSection &section, const std::string &problem,
		     const std::string &advice) const
{
	throw ws::Error(path_, fmt::format("section [{}] {}", escape(section.name), problem),
			advice);
}

const std::string *Planner::option(const FioSection &section, std::string_view name) const
{
	const std::string *own = find_option(section.options, name);

	return own ? own : find_option(global_, name);
}

void Planner::check(const FioSection &section) const
{
	for (const auto &[name, value] : section.options) {
		if (name == "include" || name.starts_with("include ") ||
		    name.starts_with("include\t"))
			refuse(section, "includes another file",
			       "write the options of that file into the job");
		if (name == "opendir")
			refuse(section, "has opendir=, so its files are not known", name_files);
		if (name == "chroot")
			refuse(section, "has chroot=, which leads out of the directory",
			       "leave it out");
	}
}

std::vector<std::string> Planner::numbered(const FioSection &section, const std::string &form) const
{
	const std::string *count = option(section, "nrfiles");
	const auto number = ws::parse_number(count ? *count : "1", fio_max_files);
	const auto at = form.find(file_number);
	std::vector<std::string> names;

	if (!number || *number == 0)
		refuse(section,
		       fmt::format("has no number from 1 to {} in nrfiles=", fio_max_files),
		       name_files);
	if (at == std::string::npos && *number != 1)
		refuse(section, "has several files and one name for them", name_files);
	for (std::uint64_t i = 0; i < *number; i++) {
		std::string name = form;

		if (at != std::string::npos)
			name.replace(at, file_number.size(), std::to_string(i));
		names.push_back(std::move(name));
	}
	return names;
}

std::vector<std::string> Planner::names_of(const FioSection &section) const
{
	std::vector<std::string> names;

	if (const std::string *listed = option(section, "filename"))
		names = split_names(*listed);
	else if (const std::string *form = option(section, "filename_format"))
		names = numbered(section, *form);
	if (names.empty())
		refuse(section, "does not name its files", name_files);
	for (const std::string &name : names) {
		if (name.empty() || name.find('\0') != std::string::npos)
			refuse(section, fmt::format("has '{}' as a file", escape(name)),
			       name_files);
		// fio's variables, and those of the environment.
		if (name.find('$') != std::string::npos)
			refuse(section, fmt::format("has a variable in '{}'", escape(name)),
			       name_files);
		if (name == "." || name == ".." || name.find('/') != std::string::npos)
			refuse(section,
			       fmt::format("leads out of the directory by '{}'", escape(name)),
			       "name files without a directory");
	}
	return names;
}

void Planner::add_amount(const FioSection &section, std::size_t files)
{
	const std::string *size = option(section, "size");
	const std::string *file_size = option(section, "filesize");
	const std::string *jobs = option(section, "numjobs");
	const auto bytes = parse_fio_size(size ? *size : "");
	const auto file_bytes = parse_fio_size(file_size ? *file_size : "");
	const auto count = ws::parse_number(jobs ? *jobs : "1", fio_max_files);

	if (bytes && count)
		plan_.bytes += *bytes * *count;
	else if (file_bytes && count)
		plan_.bytes += *file_bytes * files * *count;
	else
		all_told_ = false;
	if (const std::string *runtime = option(section, "runtime")) {
		std::string_view text = *runtime;

		if (text.ends_with("s"))
			text.remove_suffix(1);
		plan_.seconds = std::max(plan_.seconds, ws::parse_number(text).value_or(0));
	}
}

void Planner::add(const FioSection &section)
{
	const auto stream = section.stream ? section.stream : global_stream_;
	const auto names = names_of(section);

	for (const std::string &name : names) {
		const auto [known, added] = streams_.emplace(name, stream);

		if (added)
			plan_.files.push_back(
				{.name = name, .role = role_of(section.name), .stream = stream});
		else if (known->second != stream)
			refuse(section,
			       fmt::format("has another stream for '{}' than a section before it",
					   escape(name)),
			       "a file has one stream at most");
	}
	add_amount(section, names.size());
}

FioPlan Planner::plan()
{
	for (FioSection &section : plan_.job.sections) {
		check(section);
		if (is_global(section)) {
			for (const auto &[name, value] : section.options)
				set_option(global_, name, value);
			if (section.stream)
				global_stream_ = section.stream;
		} else {
			add(section);
		}
		if (find_option(section.options, "directory"))
			set_option(section.options, "directory", ".");
	}
	if (plan_.files.empty())
		throw ws::Error(path_, "has no section but [global]",
				"make a job with: wsctl fio gen");
	if (!all_told_)
		plan_.bytes = 0;
	return std::move(plan_);
}

} // namespace

std::string role_of(std::string_view section)
{
	const auto dot = section.rfind('.');

	if (dot == std::string_view::npos || dot == 0 || !ws::parse_number(section.substr(dot + 1)))
		return std::string(section);
	return std::string(section.substr(0, dot));
}

FioPlan plan_fio(const FioJob &job, const std::string &path)
{
	return Planner(job, path).plan();
}

} // namespace wsctl
