// SPDX-License-Identifier: GPL-2.0
// wsctl spread: directories whose files take turns over the AGs.
#include <memory>

#include <CLI/CLI.hpp>

#include <ws/dir_place.h>
#include <ws/error.h>

#include "changes.h"
#include "operands.h"
#include "registry.h"

namespace wsctl
{

namespace
{

struct SpreadOptions {
	bool json = false;
	bool free = false;
	bool off = false;
	bool reset = false;
	FileOperands operands;

	[[nodiscard]] ws::DirPlace place() const noexcept
	{
		if (off)
			return ws::DirPlace::near;
		if (reset)
			return ws::DirPlace::by_mount;
		return free ? ws::DirPlace::spread_free : ws::DirPlace::spread;
	}
};

int spread(const Context &context, const SpreadOptions &options)
{
	return Changes(context, options.json, options.json,
		       [&](int fd, const std::string &path, Json & /*entry*/) {
			       ws::set_dir_place(context.host, fd, path, options.place());
		       })
		.run(options.operands);
}

} // namespace

void register_spread(Registry &registry)
{
	const auto options = std::make_shared<SpreadOptions>();
	CLI::App *command =
		registry.command("spread", "Let new files of directories take turns over the AGs",
				 options->json, [options, &registry](const Context &context) {
					 const auto tail = registry.tail();
					 auto &files = options->operands.files;

					 files.insert(files.end(), tail.begin(), tail.end());
					 if (files.empty())
						 throw CLI::RequiredError("DIR");
					 return spread(context, *options);
				 });
	CLI::Option *free = command->add_flag("--free", options->free,
					      "only over AGs that belong to no reserved stream");
	CLI::Option *off = command->add_flag(
		"--off", options->off, "place them near the directory, whatever the mount says");

	off->excludes(free);
	command->add_flag("--default", options->reset, "do as the mount says")
		->excludes(free)
		->excludes(off);
	command->add_option("DIR", options->operands.files, "directories");
	command->footer(
		"Directories made in them later inherit. It lasts until wsfs is unmounted;\n"
		"'mount -o spread' does the same for all of a filesystem.\n"
		"\n"
		"Examples:\n"
		"  wsctl spread /mnt/ws/tables\n"
		"  wsctl spread --free /mnt/ws/scratch");
}

} // namespace wsctl
