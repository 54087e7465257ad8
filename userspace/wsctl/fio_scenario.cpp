// SPDX-License-Identifier: GPL-2.0
#include "fio_scenario.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/parse.h>

#include "text.h"

namespace wsctl
{

namespace
{

constexpr std::uint32_t most_jobs = 1024;

// What every scenario has. Without create_on_open fio would unlink the files that
// have their streams and make others; without fallocate=none it would have XFS
// allocate all of a file at once, where applications append.
FioOptions common()
{
	return {{"directory", "."},	 {"ioengine", "libaio"}, {"direct", "1"},
		{"rw", "write"},	 {"bs", "4k"},		 {"iodepth", "32"},
		{"create_on_open", "1"}, {"fallocate", "none"},	 {"group_reporting", "1"}};
}

std::vector<FioScenario> make_scenarios()
{
	return {
		{.name = "inter-stream",
		 .about = "16 writers in one directory, 4 files a stream: row 1a of the series",
		 .options = common(),
		 .roles = {{.name = "writer",
			    .jobs = 16,
			    .files = 1,
			    .stream = 0,
			    .streams = 4,
			    .filesize = "8g",
			    .options = {}}}},
		{.name = "intra-stream",
		 .about = "4 writers in one directory, all of one stream: row 1b of the series",
		 .options = common(),
		 .roles = {{.name = "writer",
			    .jobs = 4,
			    .files = 1,
			    .stream = 0,
			    .streams = 1,
			    .filesize = "8g",
			    .options = {}}}},
		{.name = "lsm",
		 .about =
			 "an LSM tree: a log synced at each write, tables flushed from memory, and "
			 "large tables from compactions",
		 .options = common(),
		 .roles = {{.name = "wal",
			    .jobs = 1,
			    .files = 4,
			    .stream = 0,
			    .streams = 1,
			    .filesize = "64m",
			    .options = {{"bs", "4k"},
					{"iodepth", "1"},
					{"fdatasync", "1"},
					{"file_service_type", "sequential"}}},
			   {.name = "flush",
			    .jobs = 2,
			    .files = 8,
			    .stream = 1,
			    .streams = 1,
			    .filesize = "64m",
			    .options = {{"bs", "256k"},
					{"iodepth", "4"},
					{"file_service_type", "sequential"}}},
			   {.name = "compaction",
			    .jobs = 4,
			    .files = 4,
			    .stream = 2,
			    .streams = 1,
			    .filesize = "256m",
			    .options = {{"bs", "1m"},
					{"iodepth", "8"},
					{"file_service_type", "sequential"}}}}},
		{.name = "kv-cache",
		 .about = "chunks of an LLM's KV cache: prefixes that live long, and sessions that "
			  "do "
			  "not, many files each",
		 .options = common(),
		 .roles = {{.name = "prefix",
			    .jobs = 2,
			    .files = 64,
			    .stream = 0,
			    .streams = 1,
			    .filesize = "16m",
			    .options = {{"bs", "1m"},
					{"iodepth", "4"},
					{"file_service_type", "sequential"}}},
			   {.name = "session",
			    .jobs = 4,
			    .files = 64,
			    .stream = 1,
			    .streams = 2,
			    .filesize = "4m",
			    .options = {{"bs", "256k"},
					{"iodepth", "8"},
					{"file_service_type", "roundrobin"}}}}},
		{.name = "tenants",
		 .about = "mixed tenants with a stream each: a log, a database that writes at "
			  "random, "
			  "and a store of large objects",
		 .options = common(),
		 .roles = {{.name = "log",
			    .jobs = 1,
			    .files = 1,
			    .stream = 0,
			    .streams = 1,
			    .filesize = "256m",
			    .options = {{"bs", "16k"}, {"iodepth", "1"}, {"fdatasync", "8"}}},
			   {.name = "database",
			    .jobs = 4,
			    .files = 1,
			    .stream = 1,
			    .streams = 1,
			    .filesize = "512m",
			    .options = {{"rw", "randwrite"}, {"bs", "8k"}, {"iodepth", "16"}}},
			   {.name = "objects",
			    .jobs = 2,
			    .files = 16,
			    .stream = 2,
			    .streams = 1,
			    .filesize = "64m",
			    .options = {{"bs", "1m"},
					{"iodepth", "4"},
					{"file_service_type", "sequential"}}}}},
	};
}

std::uint32_t number_in(const std::string &setting, const std::string &value, std::uint32_t least,
			std::uint32_t most)
{
	const auto number = ws::parse_number(value, most);

	if (!number || *number < least)
		throw ws::Error(setting, fmt::format("is no number from {} to {}", least, most),
				"for example: --set jobs=4");
	return static_cast<std::uint32_t>(*number);
}

// False where @key is no member of a role.
bool apply_to_member(FioRole &role, const std::string &setting, const std::string &key,
		     const std::string &value)
{
	if (key == "jobs") {
		role.jobs = number_in(setting, value, 0, most_jobs);
	} else if (key == "files") {
		role.files = number_in(setting, value, 1, fio_max_files);
	} else if (key == "stream") {
		role.stream = number_in(setting, value, 0, fio_max_streams - 1);
	} else if (key == "streams") {
		role.streams = number_in(setting, value, 1, fio_max_streams);
	} else if (key == "filesize") {
		if (!parse_fio_size(value))
			throw ws::Error(setting, "is no size", "for example: --set filesize=64m");
		role.filesize = value;
	} else {
		return false;
	}
	return true;
}

// What make_section() writes itself.
void check_key(const std::string &setting, const std::string &key)
{
	struct Other {
		std::string_view key;
		const char *advice;
	};
	constexpr std::array others{
		Other{"filename", "files are named by role and job; see --set files=N"},
		Other{"filename_format", "files are named by role and job; see --set files=N"},
		Other{"nrfiles", "use --set files=N"},
		Other{"numjobs", "use --set jobs=N"},
		Other{"new_group", "each role is a group"},
	};
	constexpr std::string_view letters =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	const auto *const found = std::ranges::find(others, key, &Other::key);

	if (key.empty() || key.find_first_not_of(letters) != std::string::npos)
		throw ws::Error(setting, "is no KEY=VALUE or ROLE.KEY=VALUE",
				"for example: --set bs=16k --set wal.fdatasync=8");
	if (found != others.end())
		throw ws::Error(setting, "cannot be set", found->advice);
}

// On a role, which then has the last word; for all roles where @role is null.
void apply_option(FioScenario &scenario, FioRole *role, const std::string &key,
		  const std::string &value)
{
	if (role)
		return set_option(role->options, key, value);
	set_option(scenario.options, key, value);
	for (FioRole &each : scenario.roles)
		std::erase_if(each.options, [&](const auto &entry) { return entry.first == key; });
}

// fio writes nothing to a file that is smaller than a block.
void check_block(const FioScenario &scenario, const FioRole &role)
{
	const std::string *own = find_option(role.options, "bs");
	const std::string *block = own ? own : find_option(scenario.options, "bs");
	const auto bytes = parse_fio_size(block ? *block : "");

	if (bytes && *bytes > parse_fio_size(role.filesize).value_or(*bytes))
		throw ws::Error(scenario.name,
				fmt::format("role {} has bs={} and smaller files, of {}", role.name,
					    *block, role.filesize),
				fmt::format("set a smaller bs= as well: --set {}.bs={}", role.name,
					    role.filesize));
}

FioSection make_section(const FioScenario &scenario, const FioRole &role, std::uint32_t number)
{
	FioSection section{.name = fmt::format("{}.{}", role.name, number),
			   .options = {},
			   .stream = role.stream + number % role.streams};
	const auto bytes = parse_fio_size(role.filesize);

	if (*section.stream >= fio_max_streams)
		throw ws::Error(scenario.name,
				fmt::format("role {} wants more than {} streams", role.name,
					    fio_max_streams),
				"set a smaller stream= or streams=");
	// fio tells of a group in one row.
	if (number == 0)
		set_option(section.options, "new_group", "");
	// fio takes 4096 bytes of filename= at most, so many files are numbered.
	if (role.files == 1) {
		set_option(section.options, "filename", section.name);
	} else {
		set_option(section.options, "nrfiles", std::to_string(role.files));
		set_option(section.options, "filename_format", section.name + ".$filenum");
	}
	set_option(section.options, "filesize", role.filesize);
	if (bytes && !find_option(scenario.options, "size"))
		set_option(section.options, "size", std::to_string(*bytes * role.files));
	for (const auto &[option, value] : role.options)
		set_option(section.options, option, value);
	return section;
}

} // namespace

const std::vector<FioScenario> &fio_scenarios()
{
	static const std::vector<FioScenario> all = make_scenarios();

	return all;
}

FioScenario find_fio_scenario(const std::string &name)
{
	const auto &all = fio_scenarios();
	const auto found = std::ranges::find(all, name, &FioScenario::name);

	if (found == all.end())
		throw ws::Error(name, "there is no such scenario", "'wsctl fio gen' lists them");
	return *found;
}

void apply_setting(FioScenario &scenario, const std::string &setting)
{
	const auto equals = setting.find('=');
	const std::string left = setting.substr(0, equals);
	const auto dot = left.find('.');
	const std::string key = dot == std::string::npos ? left : left.substr(dot + 1);
	const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
	FioRole *role = nullptr;

	check_key(setting, key);
	if (value.find_first_of("\r\n") != std::string::npos)
		throw ws::Error(setting, "is more than one line", "use --set once for each option");
	if (dot != std::string::npos) {
		const auto found =
			std::ranges::find(scenario.roles, left.substr(0, dot), &FioRole::name);

		if (found == scenario.roles.end())
			throw ws::Error(setting,
					fmt::format("{} has no role '{}'", scenario.name,
						    escape(left.substr(0, dot))),
					"'wsctl fio gen' lists the roles");
		role = &*found;
	}
	bool member = false;
	for (FioRole &each : scenario.roles) {
		if (!role || role == &each)
			member = apply_to_member(each, setting, key, value);
	}
	if (!member)
		apply_option(scenario, role, key, value);
}

FioJob make_fio_job(const FioScenario &scenario, const std::string &command_line)
{
	FioJob job;

	job.comments = {command_line, scenario.about,
			"Alone: fio FILE. On plain XFS and on wsfs: wsctl fio run FILE PATH."};
	job.sections.push_back({.name = "global", .options = scenario.options, .stream = {}});
	for (const FioRole &role : scenario.roles) {
		if (role.jobs > 0)
			check_block(scenario, role);
		for (std::uint32_t number = 0; number < role.jobs; number++) {
			job.sections.push_back(make_section(scenario, role, number));
			job.streams =
				std::max(job.streams, job.sections.back().stream.value_or(0) + 1);
		}
	}
	if (job.sections.size() == 1)
		throw ws::Error(scenario.name, "no job is left", "set jobs=1 for a role at least");
	return job;
}

} // namespace wsctl
