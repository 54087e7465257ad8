// SPDX-License-Identifier: GPL-2.0
// wsctl get: which stream files carry, and where the files of directories are born.
#include <sys/stat.h>

#include <ws/dir_place.h>
#include <ws/file_stream.h>

#include "commands.h"
#include "file_text.h"
#include "json_writer.h"
#include "progress.h"
#include "scan.h"
#include "text.h"

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
	void get(int fd, const std::string &path);
	void get_named(const std::string &path);
	void scan_trees(const std::string &path);
	void tell(const std::string &path, const Stream &stream);
	void tell_directory(const std::string &path, const ws::DirBirths &births);
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

void Getter::tell_directory(const std::string &path, const ws::DirBirths &births)
{
	if (!births.stream && options_.carrying)
		return;
	if (!options_.json) {
		context_.out << escape(path) << ": " << births_text(births) << '\n';
		return;
	}
	Json entry = Json::object();
	json_name(entry, "path", path);
	add_births_json(entry, births);
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

void Getter::get(int fd, const std::string &path)
{
	if (ws::is_directory(fd))
		tell_directory(path, ws::dir_births(context_.host, fd, path));
	else
		tell(path, ws::require_file_stream(context_.host, fd, path));
}

// A directory that is searched is told only where there is something to tell.
void Getter::get_named(const std::string &path)
{
	struct stat st = {};
	const bool directory = stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
	const ws::UniqueFd fd = directory ? ws::open_for_place(path) : ws::open_for_info(path);

	if (!directory || options_.directory) {
		get(fd.get(), path);
		return;
	}
	const ws::DirBirths births = ws::dir_births(context_.host, fd.get(), path);
	if (births.place != ws::DirPlace::by_mount)
		tell_directory(path, births);
	scan_trees(path);
}

int Getter::run()
{
	FileOperands operands = options_.operands;
	// One that fails keeps no other from being told.
	const auto attempt = [this](const auto &what) {
		try {
			what();
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
		operands, [&](const std::string &path) { attempt([&] { get_named(path); }); },
		[&](int fd) { attempt([&] { get(fd, descriptor_name(fd)); }); },
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
