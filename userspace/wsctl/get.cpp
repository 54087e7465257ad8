// SPDX-License-Identifier: GPL-2.0
// wsctl get: which stream files carry.
#include <sys/stat.h>

#include <ws/file_stream.h>

#include "commands.h"
#include "file_text.h"
#include "json_writer.h"
#include "progress.h"
#include "scan.h"

namespace wsctl
{

namespace
{

using Stream = std::optional<ws::FileStream>;

class Getter
{
public:
	Getter(const Context &context, const GetOptions &options)
	    : context_(context), options_(options),
	      progress_(context.err, context.progress && !context.terminal, "file"),
	      json_(context.out)
	{
	}

	int run();

private:
	void scan_trees(const std::string &path);
	void tell(const std::string &path, const Stream &stream);
	void failed(const ws::Error &error);

	const Context &context_;
	const GetOptions &options_;
	Progress progress_;
	JsonWriter json_;
	int status_ = exit_ok;
};

void Getter::tell(const std::string &path, const Stream &stream)
{
	if (!options_.json) {
		if (stream || !options_.carrying)
			describe(context_, path, stream, "no stream");
		return;
	}
	if (!stream && options_.carrying)
		return;
	Json entry = Json::object();
	json_name(entry, "path", path);
	entry["stream"] = file_stream_json(stream);
	entry["error"] = Json();
	json_.element(entry);
}

void Getter::failed(const ws::Error &error)
{
	Json entry = Json::object();

	status_ = exit_failed;
	progress_.hide();
	context_.report(error);
	if (!options_.json)
		return;
	json_name(entry, "path", error.path());
	entry["error"] = json_error(error);
	json_.element(entry);
}

// A file, or all files of a tree.
void Getter::scan_trees(const std::string &path)
{
	scan<Stream>(
		context_, {{.path = path}}, progress_,
		[this](const FoundFile &file, OpenFile &&open) {
			return ws::require_file_stream(context_.host, open.fd.get(), file.path);
		},
		[this](const FoundFile &file, Stream &&stream) { tell(file.path, stream); },
		[this](const ws::Error &error) { failed(error); });
}

int Getter::run()
{
	FileOperands operands = options_.operands;
	const auto get = [this](int fd, const std::string &path) {
		try {
			tell(path, ws::require_file_stream(context_.host, fd, path));
		} catch (const ws::Error &error) {
			failed(error);
		}
	};

	// Trees are left to the scan.
	operands.recursive = false;
	if (options_.json) {
		begin_document(json_, context_);
		json_.begin_array("files");
	}
	each_file(
		operands,
		[&](const std::string &path) {
			struct stat st = {};

			if (stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode))
				return scan_trees(path);
			try {
				const ws::UniqueFd fd = ws::open_for_info(path);

				get(fd.get(), path);
			} catch (const ws::Error &error) {
				failed(error);
			}
		},
		[&](int fd) { get(fd, descriptor_name(fd)); },
		[this](const ws::Error &error) { failed(error); });
	if (options_.json) {
		json_.end();
		json_.end();
	}
	return status_;
}

} // namespace

int get(const Context &context, const GetOptions &options)
{
	return Getter(context, options).run();
}

} // namespace wsctl
