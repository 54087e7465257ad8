// SPDX-License-Identifier: GPL-2.0
#include "fio_run.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <ws/file_stream.h>
#include <ws/parse.h>

#include "end_request.h"
#include "fio_plan.h"
#include "fio_progress.h"
#include "fio_result.h"
#include "fio_sites.h"
#include "process.h"
#include "reserve.h"
#include "scratch_dir.h"
#include "text.h"

namespace wsctl
{

namespace
{

// A signal asked to end; everything is cleaned up on the way out.
struct Interrupted {
	int signal;
};

void end_if_asked()
{
	if (const int signal = EndRequest::noted())
		throw Interrupted{signal};
}

std::string path_of(const FioFile &file, const std::string &dir)
{
	return dir + "/" + file.name;
}

void check_room(const FioPlan &plan, const std::string &dir)
{
	struct statvfs st = {};

	if (statvfs(dir.c_str(), &st) != 0)
		throw ws::Error(dir, "statvfs", errno);
	const std::uint64_t room = std::uint64_t{st.f_bavail} * st.f_frsize;
	if (plan.bytes > room)
		throw ws::Error(dir,
				fmt::format("has {} free, and the job writes {}", short_size(room),
					    short_size(plan.bytes)),
				"make a smaller job: wsctl fio gen --filesize SIZE");
}

std::string write_job(const FioPlan &plan, const std::string &dir)
{
	std::string path = dir + "/job.fio";
	std::ofstream out(path);

	out << format(plan.job);
	out.close();
	if (!out)
		throw ws::Error(path, "cannot be written in full", "is the disk full?");
	return path;
}

// By name, to see later whether fio has put others in their place.
using Inodes = std::map<std::string, ino_t>;

// Empty files, with their streams where there are some.
Inodes make_files(const Context &context, const FioPlan &plan, const std::string &dir,
		  const std::vector<ws::Stream> &streams)
{
	constexpr mode_t mode = 0644;
	Inodes inodes;

	for (const FioFile &file : plan.files) {
		const std::string path = path_of(file, dir);
		const ws::UniqueFd fd(
			open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode));
		struct stat st = {};

		if (!fd)
			throw ws::Error(path, "open", errno);
		if (file.stream && !streams.empty())
			ws::set_stream(context.host, fd.get(), path, streams.at(*file.stream).fd());
		// SET may have made the file anew.
		if (stat(path.c_str(), &st) != 0)
			throw ws::Error(path, "stat", errno);
		inodes[file.name] = st.st_ino;
		end_if_asked();
	}
	return inodes;
}

void check_inodes(const Inodes &inodes, const std::string &dir)
{
	for (const auto &[name, inode] : inodes) {
		const std::string path = fmt::format("{}/{}", dir, name);
		struct stat st = {};

		if (stat(path.c_str(), &st) != 0 || st.st_ino != inode)
			throw ws::Error(path, "was removed by fio, and its stream with it",
					"have create_on_open=1 in the job, and no unlink=1");
	}
}

// What the disk still has to do for the round before is no part of this one.
void settle(const std::string &dir)
{
	const ws::UniqueFd fd(open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	if (!fd || syncfs(fd.get()) != 0)
		throw ws::Error(dir, "syncfs", errno);
}

std::string said(int output)
{
	constexpr std::size_t most = 2000;
	const std::string text = ws::read_file("/proc/self/fd/" + std::to_string(output));
	const std::string_view end = ws::trim(text);

	return end.empty()
		       ? "it said nothing"
		       : "it said: " + escape(end.substr(end.size() - std::min(end.size(), most)));
}

// fio's own JSON.
std::string run_fio(const FioRunOptions &options, const FioPlan &plan, const std::string &dir,
		    const std::string &work, FioProgress &progress)
{
	const std::string output = work + "/output.json";
	const ws::UniqueFd words(memfd_create("fio", MFD_CLOEXEC));

	if (!words)
		throw ws::Error(options.fio, "memfd_create", errno);
	const ChildPlan child{.command = {options.fio, "--output-format=json", "--output=" + output,
					  "--eta=never", write_job(plan, work)},
			      .keep_open = {},
			      .environment = {},
			      .directory = dir,
			      .output = words.get(),
			      .ends_with_us = true};
	const ChildEnd end = [&] {
		try {
			return run_child(child, [&] {
				// One that came just before fio was started.
				end_if_asked();
				progress.tick();
			});
		} catch (const ws::Error &error) {
			if (error.code() != ENOENT)
				throw;
			throw ws::Error(
				error.path(), error.call(), error.code(),
				"install fio (apt-get install fio), or name it: --fio FILE");
		}
	}();
	if (end.asked != 0)
		throw Interrupted{end.asked};
	end_if_asked();
	if (end.status != 0)
		throw ws::Error(options.fio, fmt::format("ended with status {}", end.status),
				said(words.get()));
	return ws::read_file(output);
}

FioResult run_once(const Context &context, const FioRunOptions &options, const FioPlan &plan,
		   const FioSite &site, const std::string &what)
{
	ScratchDir dir(site.dir, context.err);
	const ScratchDir work(std::filesystem::temp_directory_path(), context.err);
	std::vector<ws::Stream> streams;
	FioResult result;

	if (options.keep) {
		dir.keep();
		context.err << fmt::format("wsctl {}: {}: files are in {}\n", context.command, what,
					   escape(dir.path()));
	}
	end_if_asked();
	check_room(plan, dir.path());
	if (site.streams)
		streams = reserve_streams(context.host, dir.path(), plan.job.streams);
	for (const ws::Stream &stream : streams)
		result.streams.push_back(stream.info(context.host));
	const Inodes inodes = make_files(context, plan, dir.path(), streams);
	settle(dir.path());
	end_if_asked();
	FioProgress progress(context, what, plan, dir.path());
	result.rows = parse_fio_output(run_fio(options, plan, dir.path(), work.path(), progress),
				       "the output of fio");
	check_inodes(inodes, dir.path());
	result.places = look_at_places(context.host, plan, dir.path());
	end_if_asked();
	return result;
}

void run_all(const Context &context, const FioRunOptions &options, const FioPlan &plan,
	     std::vector<FioSite> &sites)
{
	for (std::uint32_t round = 1; round <= options.rounds; round++) {
		for (FioSite &site : sites)
			site.rounds.push_back(run_once(context, options, plan, site,
						       fmt::format("{}, round {} of {}", site.name,
								   round, options.rounds)));
	}
}

} // namespace

int fio_run(const Context &context, const FioRunOptions &options)
{
	const FioPlan plan =
		plan_fio(parse_fio_job(ws::read_file(options.job), options.job), options.job);
	std::vector<FioSite> sites =
		find_fio_sites(context.host, options.path, options.plain, plan.job.streams);
	const std::string name = std::filesystem::path(options.job).filename();

	if (sites.size() > 1 && sites.front().device != sites.back().device)
		context.err << fmt::format("wsctl {}: note: {} and {} are on different devices\n",
					   context.command, escape(sites.front().dir),
					   escape(sites.back().dir));
	try {
		const EndRequest request;

		run_all(context, options, plan, sites);
	} catch (const Interrupted &interrupted) {
		constexpr int by_signal = 128;

		context.err << fmt::format("wsctl {}: interrupted; {}\n", context.command,
					   options.keep ? "the files are kept"
							: "the files are removed");
		return by_signal + interrupted.signal;
	}
	summarize(sites);
	if (options.json)
		write_fio_json(context, name, sites);
	else
		write_fio_table(context.out, name, sites);
	if (!options.svg.empty())
		write_fio_svg(options.svg, name, sites);
	return exit_ok;
}

} // namespace wsctl
