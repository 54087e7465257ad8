// SPDX-License-Identifier: GPL-2.0
// wsctl fio: gen and run.
#include <cerrno>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fio_run.h"
#include "fio_scenario.h"
#include "json.h"
#include "registry.h"
#include "text.h"

namespace wsctl
{

namespace
{

struct FioGenOptions {
	bool json = false;
	std::string scenario;
	std::vector<std::string> shorts;   // KEY=VALUE, of --jobs and such
	std::vector<std::string> settings; // the same, of --set, which has the last word
	std::string output;
};

Json options_json(const FioOptions &options)
{
	Json object = Json::object();

	for (const auto &[option, value] : options)
		object[option] = value;
	return object;
}

Json scenario_json(const FioScenario &scenario)
{
	Json object = Json::object();

	object["name"] = scenario.name;
	object["about"] = scenario.about;
	object["options"] = options_json(scenario.options);
	Json &roles = object["roles"] = Json::array();
	for (const FioRole &role : scenario.roles) {
		Json entry = Json::object();

		entry["name"] = role.name;
		entry["jobs"] = role.jobs;
		entry["files"] = role.files;
		entry["stream"] = role.stream;
		entry["streams"] = role.streams;
		entry["filesize"] = role.filesize;
		entry["options"] = options_json(role.options);
		roles.push_back(std::move(entry));
	}
	return object;
}

std::string options_text(const FioOptions &options)
{
	std::string text;

	for (const auto &[option, value] : options)
		text += fmt::format(" {}={}", option, value);
	return text;
}

void list_scenarios(const Context &context, bool json)
{
	if (json) {
		Json document = json_document(context);
		Json &list = document["scenarios"] = Json::array();

		for (const FioScenario &scenario : fio_scenarios())
			list.push_back(scenario_json(scenario));
		return write_json(context.out, document);
	}
	for (const FioScenario &scenario : fio_scenarios()) {
		context.out << fmt::format("{}: {}\n   {}\n", scenario.name, scenario.about,
					   options_text(scenario.options));
		for (const FioRole &role : scenario.roles)
			context.out << fmt::format(
				"    {}: jobs={} files={} stream={} streams={} filesize={}{}\n",
				role.name, role.jobs, role.files, role.stream, role.streams,
				role.filesize, options_text(role.options));
	}
}

void write_job(const std::string &path, const std::string &text)
{
	std::ofstream out(path);

	if (!out)
		throw ws::Error(path, "open for writing", errno);
	out << text;
	out.close();
	if (!out)
		throw ws::Error(path, "cannot be written in full", "is the disk full?");
}

int fio_gen(const Context &context, const FioGenOptions &options)
{
	if (options.scenario.empty()) {
		list_scenarios(context, options.json);
		return exit_ok;
	}
	FioScenario scenario = find_fio_scenario(options.scenario);
	std::string words = "wsctl fio gen " + options.scenario;

	for (const auto *settings : {&options.shorts, &options.settings}) {
		for (const std::string &setting : *settings) {
			apply_setting(scenario, setting);
			words += fmt::format(" --set {}", escape(setting));
		}
	}
	const std::string text = format(make_fio_job(scenario, words));
	if (!options.output.empty())
		write_job(options.output, text);
	if (options.json) {
		Json document = json_document(context);

		document["scenario"] = scenario_json(scenario);
		document["job"] = text;
		write_json(context.out, document);
	} else if (options.output.empty()) {
		context.out << text;
	}
	return exit_ok;
}

std::string names()
{
	std::vector<std::string> list;

	for (const FioScenario &scenario : fio_scenarios())
		list.push_back(scenario.name);
	return fmt::format("{}", fmt::join(list, ", "));
}

// "--jobs 4" is short for "--set jobs=4".
void add_short(CLI::App *command, const std::shared_ptr<FioGenOptions> &options, const char *key,
	       const char *about)
{
	command->add_option_function<std::string>(
		       std::string("--") + key,
		       [options, key](const std::string &value) {
			       options->shorts.push_back(fmt::format("{}={}", key, value));
		       },
		       about)
		->type_name("VALUE");
}

void register_gen(Registry &registry, CLI::App *family)
{
	auto options = std::make_shared<FioGenOptions>();
	std::vector<std::string> members;
	CLI::App *command = registry.command(
		family, "gen", "Write a fio job for a scenario; or list the scenarios",
		options->json,
		[options](const Context &context) { return fio_gen(context, *options); });

	for (const FioScenario &scenario : fio_scenarios())
		members.push_back(scenario.name);
	command->add_option("SCENARIO", options->scenario, names())->check(CLI::IsMember(members));
	add_short(command, options, "jobs", "writers of each role");
	add_short(command, options, "files", "files of each writer");
	add_short(command, options, "streams", "streams of each role");
	add_short(command, options, "filesize", "size of each file");
	add_short(command, options, "bs", "block size");
	add_short(command, options, "iodepth", "operations in flight, of each writer");
	add_short(command, options, "ioengine", "libaio, io_uring, psync, ...");
	add_short(command, options, "direct", "1: past the page cache");
	add_short(command, options, "directory",
		  "where the files are; default: the working directory");
	add_short(command, options, "runtime", "seconds, at most");
	command->add_option("--set", options->settings,
			    "any option of fio, or jobs, files, stream, streams, filesize")
		->type_name("[ROLE.]KEY=VALUE")
		->allow_extra_args(false);
	command->add_option("-o,--output", options->output, "write there, not to standard output")
		->type_name("FILE");
	command->footer(
		"Plain fio runs the file. The streams stand in comments, which 'wsctl fio run'\n"
		"reads.\n"
		"\n"
		"Examples:\n"
		"  wsctl fio gen\n"
		"  wsctl fio gen inter-stream --filesize 1g -o inter.fio\n"
		"  wsctl fio gen lsm --set wal.bs=16k --set compaction.jobs=8\n"
		"  cd /mnt/xfs && fio ~/inter.fio");
}

void register_run(Registry &registry, CLI::App *family)
{
	constexpr std::uint32_t most_rounds = 1000;
	auto options = std::make_shared<FioRunOptions>();
	CLI::App *command = registry.command(
		family, "run", "Run a fio job on plain XFS and on wsfs, and compare", options->json,
		[options](const Context &context) { return fio_run(context, *options); });

	command->add_option("FILE", options->job, "the job, as 'wsctl fio gen' writes it")
		->required();
	command->add_option("PATH", options->path,
			    "a directory on wsfs, or on plain XFS to run there alone")
		->required();
	command->add_option("-r,--rounds", options->rounds, "rounds on each; medians are shown")
		->check(CLI::Range(1U, most_rounds))
		->capture_default_str();
	command->add_option("--plain", options->plain,
			    "plain XFS to run on; default: PATH on the XFS below")
		->type_name("DIR");
	command->add_option("--svg", options->svg,
			    "write iops.svg, latency.svg and extents.svg there")
		->type_name("DIR");
	command->add_option("--fio", options->fio, "the fio to run")
		->type_name("FILE")
		->capture_default_str();
	command->add_flag("--keep", options->keep, "do not remove the files");
	command->footer(
		"It works in new directories below PATH and on the XFS below, and removes them.\n"
		"Reserving streams takes root (CAP_SYS_ADMIN).\n"
		"\n"
		"Examples:\n"
		"  wsctl fio run inter.fio /mnt/ws\n"
		"  wsctl fio run --rounds 5 --svg plots inter.fio /mnt/ws\n"
		"  wsctl fio run --json inter.fio /mnt/ws | jq '.sites[1].rows[-1].ratio'");
}

} // namespace

void register_fio(Registry &registry)
{
	CLI::App *family = registry.family("fio", "Make fio jobs, and compare wsfs with plain XFS");

	register_gen(registry, family);
	register_run(registry, family);
}

} // namespace wsctl
