// SPDX-License-Identifier: GPL-2.0
// wsctl doctor: what is found, for people and for programs.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "context.h"
#include "doctor.h"
#include "json.h"
#include "registry.h"
#include "text.h"

namespace wsctl
{

namespace
{

struct DoctorOptions {
	bool json = false;
	bool quiet = false;
	std::string path;
};

void write_text(const Context &context, const std::vector<Finding> &findings, bool quiet)
{
	std::string subject;

	for (const Finding &finding : findings) {
		const bool bad = finding.health == Health::fail || finding.health == Health::warn;
		const std::string mark = fmt::format("{:<4}", health_name(finding.health));

		if (quiet && !bad)
			continue;
		if (finding.subject != subject)
			context.out << escape(finding.subject) << ":\n";
		subject = finding.subject;
		context.out << fmt::format("  {}  {:<13} {}\n",
					   finding.health == Health::fail ? context.alarm(mark)
									  : mark,
					   finding.name, finding.text);
		if (!finding.advice.empty())
			context.out << fmt::format("  {:>18}  do: {}\n", "", finding.advice);
	}
}

void write_document(const Context &context, const std::vector<Finding> &findings, bool good)
{
	Json document = json_document(context);

	document["ok"] = good;
	Json &list = document["findings"] = Json::array();
	for (const Finding &finding : findings) {
		Json object = Json::object();

		json_name(object, "subject", finding.subject);
		object["name"] = finding.name;
		object["result"] = health_name(finding.health);
		object["text"] = finding.text;
		object["advice"] = finding.advice.empty() ? Json() : Json(finding.advice);
		list.push_back(std::move(object));
	}
	write_json(context.out, document);
}

int doctor(const Context &context, const DoctorOptions &options)
{
	const Machine machine = Machine::here();
	std::vector<Finding> findings = examine_machine(context.host, machine);

	std::ranges::move(examine_mounts(context.host, machine, options.path),
			  std::back_inserter(findings));
	const bool good = std::ranges::none_of(
		findings, [](const Finding &finding) { return finding.health == Health::fail; });
	if (options.json)
		write_document(context, findings, good);
	else
		write_text(context, findings, options.quiet);
	return good ? exit_ok : exit_failed;
}

} // namespace

void register_doctor(Registry &registry)
{
	auto options = std::make_shared<DoctorOptions>();
	CLI::App *command = registry.command(
		"doctor", "Say what works on this machine, what does not, and what to do",
		options->json,
		[options](const Context &context) { return doctor(context, *options); });

	command->add_flag("-q,--quiet", options->quiet, "only what is wrong");
	command->add_option("PATH", options->path,
			    "anything on a filesystem; default: all of wsfs, or all of XFS");
	command->footer(
		"The exit status is 0 where streams can work, 1 where something is in the way.\n"
		"It works without the module, and without root.\n"
		"\n"
		"Examples:\n"
		"  wsctl doctor\n"
		"  wsctl doctor --json /mnt/ws | jq -r '.findings[] | select(.result == "
		"\"fail\").advice'");
}

} // namespace wsctl
