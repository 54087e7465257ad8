// SPDX-License-Identifier: GPL-2.0
// wsctl set and wsctl clear: the stream of a file, or of the files born in a
// directory.
#include <cerrno>

#include <fcntl.h>

#include <fmt/format.h>

#include <ws/dir_place.h>
#include <ws/environment.h>
#include <ws/error.h>
#include <ws/file_stream.h>
#include <ws/unique_fd.h>

#include "changes.h"
#include "commands.h"
#include "file_text.h"
#include "held.h"
#include "text.h"

namespace wsctl
{

namespace
{

// One that is inherited, or one of our own.
struct StreamToSet {
	int fd;
	ws::UniqueFd own;
};

StreamToSet stream_to_set(const SetOptions &options)
{
	if (!options.held.empty()) {
		ws::UniqueFd own = take_held_stream(options.held);
		const int fd = own.get();

		return {.fd = fd, .own = std::move(own)};
	}
	const int fd = options.slot ? ws::inherited_stream(*options.slot) : options.fd.value_or(-1);

	if (fcntl(fd, F_GETFD) < 0)
		throw ws::Error(
			fmt::format("descriptor {}", fd), "fcntl(F_GETFD)", errno,
			"the stream is not open here; was it passed on? (Python: pass_fds=, "
			"sudo: -C)");
	return {.fd = fd, .own = ws::UniqueFd()};
}

void set_directory(const Context &context, const SetOptions &options, int fd,
		   const std::string &path, int stream_fd, Json &entry)
{
	ws::set_dir_stream(context.host, fd, path, stream_fd);
	const auto now = ws::dir_births(context.host, fd, path);

	add_births_json(entry, now);
	if (options.verbose && !options.json)
		context.out << escape(path) << ": " << births_text(now) << '\n';
}

} // namespace

int set(const Context &context, const SetOptions &options)
{
	const StreamToSet stream = stream_to_set(options);

	return Changes(context, options.json, options.json || options.verbose,
		       [&](int fd, const std::string &path, Json &entry) {
			       if (ws::is_directory(fd)) {
				       set_directory(context, options, fd, path, stream.fd, entry);
				       return;
			       }
			       ws::set_stream(context.host, fd, path, stream.fd);
			       const auto now = ws::file_stream(context.host, fd, path);
			       entry["stream"] = file_stream_json(now);
			       if (options.verbose && !options.json)
				       describe(context, path, now, "stream set");
		       })
		.run(options.operands);
}

int clear(const Context &context, const ClearOptions &options)
{
	return Changes(context, options.json, options.json,
		       [&](int fd, const std::string &path, Json & /*entry*/) {
			       if (ws::is_directory(fd))
				       ws::set_dir_place(context.host, fd, path,
							 ws::DirPlace::by_mount);
			       else
				       ws::clear_stream(context.host, fd, path);
		       })
		.run(options.operands);
}

} // namespace wsctl
