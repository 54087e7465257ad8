// SPDX-License-Identifier: GPL-2.0
// wsctl doctor: looks at the machine and its mounts.
#include <algorithm>
#include <memory>

#include "context.h"
#include "doctor.h"
#include "doctor_report.h"
#include "registry.h"

namespace wsctl
{

namespace
{

struct DoctorOptions {
	bool json = false;
	bool quiet = false;
	std::string path;
};

int doctor(const Context &context, const DoctorOptions &options)
{
	const Machine machine = Machine::here();
	std::vector<Finding> findings = examine_machine(context.host, machine);

	std::ranges::move(examine_mounts(context.host, machine, options.path),
			  std::back_inserter(findings));
	if (options.json)
		write_findings_json(context, findings);
	else
		write_findings(context, findings, options.quiet);
	return is_well(findings) ? exit_ok : exit_failed;
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
