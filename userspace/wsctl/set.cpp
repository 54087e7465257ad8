// SPDX-License-Identifier: GPL-2.0
// wsctl set and wsctl clear: the stream of a file.
#include <cerrno>
#include <functional>

#include <fcntl.h>

#include <fmt/format.h>

#include <ws/environment.h>
#include <ws/file.h>
#include <ws/file_stream.h>
#include <ws/unique_fd.h>

#include "commands.h"
#include "file_text.h"
#include "held.h"
#include "json_writer.h"
#include "operands.h"

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

// Calls @change on each file opened for writing; goes on after errors.
class Changes
{
public:
	using Change = std::function<void(int fd, const std::string &path, Json &entry)>;

	Changes(const Context &context, bool json, Change change)
	    : context_(context), json_(json), change_(std::move(change)), writer_(context.out)
	{
	}

	int run(const FileOperands &operands);

private:
	void take(const std::string &path, const std::function<void(Json &entry)> &change);
	void failed(const ws::Error &error);

	const Context &context_;
	bool json_;
	Change change_;
	JsonWriter writer_;
	int status_ = exit_ok;
};

void Changes::failed(const ws::Error &error)
{
	take(error.path(), [&](Json &) { throw error; });
}

void Changes::take(const std::string &path, const std::function<void(Json &entry)> &change)
{
	Json entry = Json::object();

	json_name(entry, "path", path);
	try {
		change(entry);
		entry["error"] = Json();
	} catch (const ws::Error &error) {
		context_.report(error);
		entry["error"] = json_error(error);
		status_ = exit_failed;
	}
	if (json_)
		writer_.element(entry);
}

int Changes::run(const FileOperands &operands)
{
	if (json_) {
		begin_document(writer_, context_);
		writer_.begin_array("files");
	}
	each_file(
		operands,
		[this](const std::string &path) {
			take(path, [&](Json &entry) {
				const ws::UniqueFd fd = ws::open_for_set(path);

				change_(fd.get(), path, entry);
			});
		},
		[this](int fd) {
			const std::string name = descriptor_name(fd);

			take(name, [&](Json &entry) { change_(fd, name, entry); });
		},
		[this](const ws::Error &error) { failed(error); });
	if (json_) {
		writer_.end();
		writer_.end();
	}
	return status_;
}

} // namespace

int set(const Context &context, const SetOptions &options)
{
	const StreamToSet stream = stream_to_set(options);

	return Changes(context, options.json,
		       [&](int fd, const std::string &path, Json &entry) {
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
	return Changes(context, options.json,
		       [&](int fd, const std::string &path, Json & /*entry*/) {
			       ws::clear_stream(context.host, fd, path);
		       })
		.run(options.operands);
}

} // namespace wsctl
