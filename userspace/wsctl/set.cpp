// SPDX-License-Identifier: GPL-2.0
// wsctl set and wsctl clear: the stream of a file.
#include <cerrno>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <ws/environment.h>
#include <ws/file_stream.h>
#include <ws/unique_fd.h>

#include "commands.h"
#include "json.h"
#include "text.h"

namespace wsctl
{

namespace
{

ws::UniqueFd open_for_set(const std::string &path)
{
	struct stat st = {};

	// Looked at first: opening a device or a FIFO for writing may do things.
	if (stat(path.c_str(), &st) != 0)
		throw ws::Error(path, "stat", errno);
	if (!S_ISREG(st.st_mode))
		throw ws::Error(path, "is not a regular file", "only regular files carry streams");
	ws::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
	if (!fd)
		throw ws::Error(path, "open for writing", errno);
	return fd;
}

int stream_to_set(const SetOptions &options)
{
	const int fd = options.slot ? ws::inherited_stream(*options.slot) : options.fd.value_or(-1);

	if (fcntl(fd, F_GETFD) < 0)
		throw ws::Error(
			fmt::format("descriptor {}", fd), "fcntl(F_GETFD)", errno,
			"the stream is not open here; was it passed on? (Python: pass_fds=, "
			"sudo: -C)");
	return fd;
}

Json stream_json(const std::optional<ws::FileStream> &stream)
{
	Json object = Json::object();

	if (!stream)
		return {};
	object["id"] = stream->id;
	object["home_ag"] = stream->home_ag;
	object["homed"] = stream->homed;
	object["missed"] = stream->missed;
	return object;
}

void describe(const Context &context, const std::string &path,
	      const std::optional<ws::FileStream> &stream)
{
	context.out << escape(path) << ": ";
	if (!stream)
		context.out << "stream set\n";
	else
		context.out << fmt::format("stream {}, {} AG {}\n", stream->id,
					   stream->homed ? "home in" : "not placed yet, wanted in",
					   stream->home_ag);
}

// Calls @change on each file opened for writing; goes on after errors.
int for_each(const Context &context, const std::vector<std::string> &files, bool json,
	     const std::function<void(int fd, const std::string &path, Json &entry)> &change)
{
	Json document = json_document(context);
	Json &list = document["files"] = Json::array();
	int status = exit_ok;

	for (const std::string &path : files) {
		Json entry = Json::object();

		json_name(entry, "path", path);
		try {
			const ws::UniqueFd fd = open_for_set(path);

			change(fd.get(), path, entry);
			entry["error"] = Json();
		} catch (const ws::Error &error) {
			context.report(error);
			entry["error"] = json_error(error);
			status = exit_failed;
		}
		list.push_back(std::move(entry));
	}
	if (json)
		write_json(context.out, document);
	return status;
}

} // namespace

int set(const Context &context, const SetOptions &options)
{
	const int stream_fd = stream_to_set(options);

	return for_each(context, options.files, options.json,
			[&](int fd, const std::string &path, Json &entry) {
				ws::set_stream(context.host, fd, path, stream_fd);
				const auto stream = ws::file_stream(context.host, fd, path);
				entry["stream"] = stream_json(stream);
				if (options.verbose && !options.json)
					describe(context, path, stream);
			});
}

int clear(const Context &context, const ClearOptions &options)
{
	return for_each(context, options.files, options.json,
			[&](int fd, const std::string &path, Json & /*entry*/) {
				ws::clear_stream(context.host, fd, path);
			});
}

} // namespace wsctl
