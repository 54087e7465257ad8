// SPDX-License-Identifier: GPL-2.0
// wsctl relocate: brings data that lies outside the AGs of its stream there.
#include <cerrno>
#include <chrono>
#include <memory>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <ws/error.h>
#include <ws/parse.h>
#include <ws/xfs_features.h>

#include "donors.h"
#include "end_request.h"
#include "json_writer.h"
#include "operands.h"
#include "pace.h"
#include "placement.h"
#include "progress.h"
#include "rate.h"
#include "registry.h"
#include "relocate_file.h"
#include "relocate_report.h"
#include "share_mark.h"
#include "text.h"

namespace wsctl
{

namespace
{

struct RelocateOptions {
	bool json = false;
	bool verbose = false;
	bool dry_run = false;
	bool shared = false;
	std::optional<std::uint32_t> stream;
	std::string ags;
	std::string bwlimit;
	FileOperands operands;
};

ws::UniqueFd reopen_for_writing(const ws::UniqueFd &file, const std::string &path)
{
	const std::string own = fmt::format("/proc/self/fd/{}", file.get());
	// What we read is not what the user has read.
	ws::UniqueFd fd(open(own.c_str(), O_RDWR | O_NONBLOCK | O_NOATIME | O_CLOEXEC));

	if (!fd && errno == EPERM)
		fd = ws::UniqueFd(open(own.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
	if (!fd)
		throw ws::Error(path, "open for writing", errno);
	return fd;
}

void refuse_what_cannot_be_moved(const ws::Host &host, const OpenFile &file)
{
	struct fsxattr attr = {};
	const auto features = ws::read_xfs_features(host, file.fd.get());

	if (file.shape.realtime)
		throw ws::Error(file.path, "lies on the realtime device",
				"only data in allocation groups can be moved");
	if (host.kernel.ioctl(file.fd.get(), FS_IOC_FSGETXATTR, &attr) >= 0 &&
	    (attr.fsx_xflags & (FS_XFLAG_IMMUTABLE | FS_XFLAG_APPEND)))
		throw ws::Error(file.path, "is immutable or append-only",
				"see 'lsattr'; take the flag off with: chattr -ia");
	if (!features || !features->reflink)
		throw ws::Error(file.path,
				"cannot be moved in place: its XFS has no reflink (mkfs.xfs -m "
				"reflink=1)",
				"set the stream on a new file and copy the data there");
}

class Relocation
{
public:
	Relocation(const Context &context, const RelocateOptions &options, std::uint64_t rate)
	    : context_(context), options_(options), opener_(context.host), donors_(context.host),
	      pace_(rate),
	      progress_(context.err, context.progress && !(options.json && context.terminal),
			"file"),
	      json_(context.out)
	{
		if (!options.ags.empty())
			ags_ = ws::AgSet::parse(options.ags);
	}

	int run();

private:
	void take(const NamedFile &named);
	void failed(const ws::Error &error);
	void failed(const ws::Error &error, Json &entry);
	[[nodiscard]] bool passed_over(const OpenFile &file) const;
	[[nodiscard]] std::optional<std::uint32_t> stream_of(const OpenFile &file) const;
	[[nodiscard]] ws::AgSet home_of(const OpenFile &file) const;
	RelocateReport relocate(OpenFile &file);
	void move(OpenFile &file, RelocateReport &report);
	void settle(const OpenFile &file, RelocateReport &report);
	void complain(const RelocateReport &report) const;

	const Context &context_;
	const RelocateOptions &options_;
	std::optional<ws::AgSet> ags_;
	Opener opener_;
	Donors donors_;
	Pace pace_;
	Progress progress_;
	JsonWriter json_;
	std::uint64_t turn_ = 0;
	bool full_ = false;
	int status_ = exit_ok;
};

void Relocation::failed(const ws::Error &error, Json &entry)
{
	status_ = exit_failed;
	progress_.hide();
	context_.report(error);
	entry["error"] = json_error(error);
}

void Relocation::failed(const ws::Error &error)
{
	Json entry = Json::object();

	json_name(entry, "path", error.path());
	failed(error, entry);
	if (options_.json)
		json_.element(entry);
}

// Of a tree, only files that have a place to go to.
bool Relocation::passed_over(const OpenFile &file) const
{
	return options_.operands.recursive && !ags_ && !options_.stream && !file.stream;
}

// The one that was named, or the file's own.
std::optional<std::uint32_t> Relocation::stream_of(const OpenFile &file) const
{
	if (options_.stream)
		return options_.stream;
	return file.stream ? std::optional(file.stream->id) : std::nullopt;
}

ws::AgSet Relocation::home_of(const OpenFile &file) const
{
	const bool wsfs = file.filesystem.type == ws::Filesystem::Type::wsfs;

	if (ags_) {
		if (ags_->ranges().back().last >= file.filesystem.geometry.ags.count)
			throw ws::Error(
				file.path,
				fmt::format("there is no AG {}, only {}",
					    ags_->ranges().back().last,
					    plural(file.filesystem.geometry.ags.count, "AG")),
				"AGs count from 0; 'wsctl info --ags' lists them");
		return *ags_;
	}
	if (!wsfs)
		throw ws::Error(file.path, "is on plain XFS, which tells of no streams",
				"say where it is to go: --ags 8-11");
	const auto id = stream_of(file);

	if (!id)
		throw ws::Error(file.path, "carries no stream, so it has no AGs to go to",
				"name a stream by its id (--stream), or AGs (--ags)");
	return file.ag_set(*id);
}

// What is left is told, and makes the command fail.
void Relocation::complain(const RelocateReport &report) const
{
	const std::uint64_t bytes = report.left.stray_bytes;

	if (report.dry_run)
		return;
	if (bytes > 0 && EndRequest::noted() == 0) {
		const std::string stays =
			fmt::format("{} stay outside AG {}", binary_size(bytes), report.home.str());

		if (full_)
			throw ws::Error(report.path, stays + ": no room there",
					"'wsctl info --ags' shows what is free; free some, or name "
					"other AGs");
		throw ws::Error(report.path, stays + ": they are written all the time",
				"nothing is lost; run it again when the file is written less");
	}
	if (report.left.shared_bytes > 0)
		throw ws::Error(report.path,
				fmt::format("{} outside AG {} are shared with other files",
					    binary_size(report.left.shared_bytes),
					    report.home.str()),
				"--shared moves them, and so takes as much space more");
}

// The mark that sharing has left goes where nothing is shared now.
void Relocation::settle(const OpenFile &file, RelocateReport &report)
{
	if (!report.left.own_block)
		return;
	const std::uint64_t block = *report.left.own_block;
	report.marked = has_share_mark(context_, file, block);
	if (report.left.shares || !report.marked.value_or(report.moved > 0))
		return;
	report.marked = !clear_share_mark(context_, file, block);
}

void Relocation::move(OpenFile &file, RelocateReport &report)
{
	const auto begin = std::chrono::steady_clock::now();
	const auto first = file.stream ? std::optional(file.stream->home_ag) : std::nullopt;
	std::uint64_t done = 0;
	FileMover mover(context_, donors_, pace_,
			{.file = file,
			 .home = report.home,
			 .order = ag_order(report.home, first, turn_++),
			 .shared = options_.shared});

	report.plan = mover.look();
	report.left = report.plan;
	if (options_.dry_run)
		return;
	const Relocated result = mover.move(report.plan, [&](std::uint64_t moved) {
		const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;

		done += moved;
		if (time.count() >= 1)
			progress_.show(
				fmt::format("{}: {}", escape(file.path),
					    relocate_progress_text(done, report.plan.stray_bytes,
								   time.count())));
	});
	progress_.hide();
	report.left = result.left;
	report.moved = result.moved;
	full_ = result.full;
	settle(file, report);
}

RelocateReport Relocation::relocate(OpenFile &file)
{
	RelocateReport report;

	report.path = file.path;
	report.home = home_of(file);
	report.dry_run = options_.dry_run;
	if (!ags_)
		report.stream = stream_of(file);
	refuse_what_cannot_be_moved(context_.host, file);
	if (!options_.dry_run)
		file.fd = reopen_for_writing(file.fd, file.path);
	move(file, report);
	return report;
}

void Relocation::take(const NamedFile &named)
{
	Json entry = Json::object();

	if (EndRequest::noted() != 0)
		return;
	json_name(entry, "path", named.path);
	try {
		OpenFile file = opener_.open(named.path);

		if (passed_over(file))
			return progress_.step(named.fraction);
		const RelocateReport report = relocate(file);
		add_report(entry, report);
		// Where there may be something to say the line makes room.
		if (context_.terminal)
			progress_.hide();
		if (!options_.json)
			write_report(context_, report, options_.verbose);
		complain(report);
		entry["error"] = Json();
	} catch (const ws::Error &error) {
		if (named.found && error.path() == named.path && error.code() == ENOENT)
			return; // it has vanished
		failed(error, entry);
	}
	if (options_.json)
		json_.element(entry);
	progress_.step(named.fraction);
}

int Relocation::run()
{
	constexpr int signal_base = 128;
	const EndRequest end;

	if (options_.json) {
		begin_document(json_, context_);
		json_.member("dry_run", options_.dry_run);
		json_.begin_array("files");
	}
	each_file(
		options_.operands, [this](const NamedFile &file) { take(file); }, [](int /*fd*/) {},
		[this](const ws::Error &error) { failed(error); });
	progress_.hide();
	if (options_.json) {
		json_.end();
		json_.member("interrupted", EndRequest::noted() != 0);
		json_.end();
	}
	if (EndRequest::noted() == 0)
		return status_;
	context_.err << "wsctl relocate: interrupted; what is moved is home\n"
			"wsctl relocate: hint: run it again to go on\n";
	return signal_base + EndRequest::noted();
}

int relocate(const Context &context, const RelocateOptions &options)
{
	const std::uint64_t rate =
		options.bwlimit.empty() ? 0 : parse_rate(options.bwlimit).value_or(0);

	return Relocation(context, options, rate).run();
}

std::string check_rate(const std::string &text)
{
	return parse_rate(text) ? "" : text + " is no rate; such as 100M or 512k, bytes a second";
}

std::string check_ags(const std::string &text)
{
	const auto ags = ws::AgSet::parse(text);

	return ags && !ags->empty() ? "" : text + " is no list of AGs, such as 8-11,32";
}

} // namespace

void register_relocate(Registry &registry)
{
	const auto options = std::make_shared<RelocateOptions>();
	CLI::App *command =
		registry.command("relocate", "Move data of files into the AGs of their stream",
				 options->json, [options, &registry](const Context &context) {
					 const auto tail = registry.tail();
					 auto &files = options->operands.files;

					 files.insert(files.end(), tail.begin(), tail.end());
					 if (files.empty())
						 throw CLI::RequiredError("FILE");
					 return relocate(context, *options);
				 });
	CLI::Option *stream = command->add_option(
		"-s,--stream", options->stream,
		"id of the stream whose AGs it goes to, as 'wsctl info' shows it; default: that "
		"of the file");

	command->add_option("--ags", options->ags, "the AGs to go to, such as 8-11")
		->check(CLI::Validator(check_ags, ""))
		->type_name("LIST")
		->excludes(stream);
	command->add_option("--bwlimit", options->bwlimit,
			    "move so many bytes a second at most, such as 100M")
		->check(CLI::Validator(check_rate, ""))
		->type_name("RATE");
	command->add_flag("-n,--dry-run", options->dry_run, "say what would move; change nothing");
	command->add_flag("--shared", options->shared,
			  "move what is shared with other files too; takes as much space more");
	command->add_flag("-r,--recursive", options->operands.recursive,
			  "of directories, take the files below that carry a stream");
	command->add_flag("-v,--verbose", options->verbose, "name files that are home too");
	command->add_option("FILE", options->operands.files, "regular files on wsfs or XFS");
	command->footer(
		"Files may be in use meanwhile: no write is lost, no byte, size or time of the\n"
		"last write changes. It can be interrupted, and goes on when run again. The XFS\n"
		"needs reflink. What is preallocated, or shared with other files, stays.\n"
		"\n"
		"Examples:\n"
		"  wsctl relocate --dry-run /mnt/ws/table.db\n"
		"  wsctl relocate --bwlimit 100M /mnt/ws/table.db\n"
		"  wsctl relocate --stream 2 *.sst            # of a stream that was released\n"
		"  wsctl relocate --recursive /mnt/ws/cache\n"
		"  wsctl relocate --ags 8-11 /mnt/xfs/a.dat   # on plain XFS");
}

} // namespace wsctl
