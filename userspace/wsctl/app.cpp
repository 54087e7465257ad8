// SPDX-License-Identifier: GPL-2.0
#include "app.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "complete.h"
#include "registry.h"

namespace wsctl
{

namespace
{

using Arguments = std::vector<std::string>;

// What stands before the first "--", and the lists of words behind each.
struct CommandLine {
	Arguments head;
	std::vector<Arguments> tail;
};

CommandLine split(const Arguments &arguments)
{
	auto dash = std::ranges::find(arguments, "--");
	CommandLine line{.head = Arguments(arguments.begin(), dash), .tail = {}};

	while (dash != arguments.end()) {
		const auto begin = std::next(dash);

		dash = std::find(begin, arguments.end(), "--");
		line.tail.emplace_back(begin, dash);
	}
	return line;
}

// The words behind the first "--" as they were typed.
Arguments rejoin(const std::vector<Arguments> &tail)
{
	Arguments words;

	for (const Arguments &part : tail) {
		if (&part != &tail.front())
			words.emplace_back("--");
		words.insert(words.end(), part.begin(), part.end());
	}
	return words;
}

void append(Arguments &words, const Arguments &more)
{
	words.insert(words.end(), more.begin(), more.end());
}

class App final : public Registry
{
public:
	App(const std::vector<std::string> &arguments, const ws::Host &host, const Streams &streams)
	    : line_(split(arguments)), streams_(streams), context_{.host = host,
								   .out = streams.out,
								   .err = streams.err,
								   .command = {},
								   .terminal = streams.out_terminal,
								   .progress = streams.err_terminal}
	{
		app_.require_subcommand(1);
		app_.set_version_flag("--version", "wsctl " WSFS_VERSION);
		app_.add_option("--color", colour_, "colours: auto, always or never")
			->check(CLI::IsMember({"auto", "always", "never"}))
			->capture_default_str();
		app_.footer("wsctl COMMAND --help tells more; the manual is wsctl(8).");
		add_info();
		add_streams();
		add_run();
		add_set();
		add_clear();
		add_get();
		add_bmap();
		add_check();
		add_map();
		register_doctor(*this);
		register_fio(*this);
		register_hold(*this);
		register_relocate(*this);
		register_spread(*this);
	}

	CLI::App *command(const std::string &name, const std::string &description, bool &json,
			  const Action &action) override
	{
		return add(name, description, json, [this, action] { status_ = action(context_); });
	}

	CLI::App *family(const std::string &name, const std::string &description) override
	{
		CLI::App *family = app_.add_subcommand(name, description);

		family->require_subcommand(1);
		family->fallthrough();
		return family;
	}

	CLI::App *command(CLI::App *family, const std::string &name, const std::string &description,
			  bool &json, const Action &action) override
	{
		return add(
			name, description, json, [this, action] { status_ = action(context_); },
			family);
	}

	[[nodiscard]] Arguments tail() const override { return rejoin(line_.tail); }

	// The shells' completion: "wsctl __complete WORD...", the last one is begun.
	int complete(const Arguments &words)
	{
		write_completions(streams_.out, app_, words);
		return exit_ok;
	}

	int run()
	{
		try {
			app_.parse(Arguments(line_.head.rbegin(), line_.head.rend()));
			action_();
		} catch (const CLI::Success &success) {
			app_.exit(success, streams_.out, streams_.err);
			return exit_ok;
		} catch (const CLI::ParseError &error) {
			return usage(error.what());
		} catch (const ws::Error &error) {
			context_.report(error);
			return context_.command == "run" ? exit_run_error : exit_failed;
		}
		return status_;
	}

private:
	CLI::App *add(const std::string &name, const std::string &description, bool &json,
		      std::function<void()> action, CLI::App *family = nullptr)
	{
		CLI::App *command = (family ? family : &app_)->add_subcommand(name, description);
		const std::string full = family ? family->get_name() + " " + name : name;

		command->fallthrough();
		command->add_flag("--json", json, "write JSON, as wsctl(8) documents it");
		command->callback([this, full, action = std::move(action)] {
			context_.command = full;
			context_.colour =
				colour_ == "always" || (colour_ == "auto" && streams_.terminal);
			// Run after parsing, so that what it throws is not a usage error.
			action_ = action;
		});
		return command;
	}

	int usage(std::string problem)
	{
		const auto chosen = app_.get_subcommands();
		const auto word = std::ranges::find_if(
			line_.head, [](const std::string &text) { return !text.starts_with('-'); });

		if (chosen.empty() && word != line_.head.end())
			problem = "there is no command '" + *word + "'";
		std::string name = chosen.empty() ? "" : " " + chosen.front()->get_name();
		if (!chosen.empty() && !chosen.front()->get_subcommands().empty())
			name += " " + chosen.front()->get_subcommands().front()->get_name();

		streams_.err << "wsctl" << name << ": " << problem << '\n'
			     << "wsctl" << name << ": hint: wsctl" << name << " --help\n";
		return name == " run" ? exit_run_error : exit_usage;
	}

	static void need(const FileOperands &operands)
	{
		if (operands.empty())
			throw CLI::RequiredError("FILE");
	}

	static void need(const Arguments &words, const char *name)
	{
		if (words.empty())
			throw CLI::RequiredError(name);
	}

	static void add_files(CLI::App *command, FileOperands &operands, const std::string &what);

	void add_info();
	void add_streams();
	void add_run();
	void add_set();
	void add_clear();
	void add_get();
	void add_bmap();
	void add_check();
	void add_map();

	CommandLine line_;
	Streams streams_;
	Context context_;
	CLI::App app_{"Write streams: reserve them, set them on files, see where the data lies.",
		      "wsctl"};
	std::string colour_ = "auto";
	std::function<void()> action_;
	int status_ = exit_ok;
	InfoOptions info_;
	RunOptions run_;
	SetOptions set_;
	ClearOptions clear_;
	GetOptions get_;
	StreamsOptions streams_options_;
	MapOptions map_;
	BmapOptions bmap_;
	CheckOptions check_;
	Arguments check_files_;
};

void App::add_files(CLI::App *command, FileOperands &operands, const std::string &what)
{
	command->add_flag("-r,--recursive", operands.recursive,
			  "of directories, take the files below");
	command->add_option("-g,--glob", operands.globs, "take the files that match the pattern")
		->type_name("PATTERN")
		->allow_extra_args(false);
	command->add_option("-T,--files-from", operands.list,
			    "take the files named in this file, - for standard input")
		->type_name("LIST");
	command->add_flag("-0,--null", operands.null, "names in LIST end with NUL bytes");
	command->add_option("--file-fd", operands.fds, "take a file by its descriptor, open here")
		->check(CLI::NonNegativeNumber)
		->allow_extra_args(false);
	command->add_option("FILE", operands.files, what);
}

void App::add_streams()
{
	StreamsOptions &options = streams_options_;
	CLI::App *command =
		add("streams", "Show who holds which stream", options.json, [this, &options] {
			Arguments paths =
				options.path.empty() ? Arguments{} : Arguments{options.path};

			append(paths, rejoin(line_.tail));
			if (paths.size() > 1)
				throw CLI::ExtrasError(
					Arguments(std::next(paths.begin()), paths.end()));
			options.path = paths.empty() ? "" : paths.front();
			status_ = wsctl::streams(context_, options);
		});

	command->add_flag("-a,--all", options.all, "show streams that nobody holds too");
	command->add_flag("-w,--watch", options.watch, "look again and again, until interrupted");
	command->add_option("--interval", options.interval, "seconds between looks")
		->check(CLI::Range(0.01, 86400.0))
		->capture_default_str();
	command->add_option("--count", options.count, "with --watch, end after so many looks")
		->check(CLI::PositiveNumber);
	command->add_option("PATH", options.path, "anything on a wsfs mount; default: all of wsfs");
	command->footer(
		"Run as root to see the processes of others. With --watch --json each look is\n"
		"a document on a line of its own.\n"
		"\n"
		"Examples:\n"
		"  wsctl streams\n"
		"  wsctl streams --watch /mnt/ws\n"
		"  wsctl streams --json | jq '.mounts[].streams[] | select(.missed > 0)'");
}

void App::add_get()
{
	CLI::App *command =
		add("get", "Show the stream of files and directories", get_.json, [this] {
			append(get_.operands.files, rejoin(line_.tail));
			need(get_.operands);
			status_ = get(context_, get_);
		});

	command->add_flag("-c,--carrying", get_.carrying, "leave out files without a stream");
	command->add_flag("-d,--directory", get_.directory,
			  "of directories, where their new files are made; do not search them");
	add_files(command, get_.operands, "files, or directories to search");
	command->footer("A file carries its stream as long as it is in memory.\n"
			"\n"
			"Examples:\n"
			"  wsctl get a.dat\n"
			"  wsctl get --carrying /mnt/ws\n"
			"  wsctl get -d /mnt/ws/wal\n"
			"  wsctl get --file-fd 3 3<a.dat");
}

void App::add_map()
{
	CLI::App *command =
		add("map", "Show which stream's data lies in which AG", map_.json, [this] {
			append(map_.files, rejoin(line_.tail));
			need(map_.files, "FILE");
			status_ = map(context_, map_);
		});

	command->add_flag("--by-operand", map_.by_operand,
			  "a row for each FILE named, rather than for each stream");
	command->add_option("--svg", map_.svg, "draw the map into this file")->type_name("FILE");
	command->add_option("--png", map_.png, "draw the map into this file")->type_name("FILE");
	command->add_option("FILE", map_.files, "files, or directories to search");
	command->footer(
		"STRAY is what lies outside the AGs of the row's stream; on a terminal it is red.\n"
		"Plain XFS knows no streams: use --by-operand there.\n"
		"\n"
		"Examples:\n"
		"  wsctl map /mnt/ws\n"
		"  wsctl map --svg map.svg --png map.png /mnt/ws\n"
		"  wsctl map --by-operand /mnt/xfs/wal /mnt/xfs/tables");
}

void App::add_info()
{
	CLI::App *command =
		add("info", "Show mounts, their AGs and their streams", info_.json, [this] {
			Arguments paths = info_.path.empty() ? Arguments{} : Arguments{info_.path};

			append(paths, rejoin(line_.tail));
			if (paths.size() > 1)
				throw CLI::ExtrasError(
					Arguments(std::next(paths.begin()), paths.end()));
			info_.path = paths.empty() ? "" : paths.front();
			status_ = info(context_, info_);
		});

	command->add_flag("--ags", info_.ags, "free space and inodes of each AG");
	command->add_option("PATH", info_.path,
			    "anything on a wsfs or XFS mount; default: all of wsfs");
	command->footer(
		"Examples:\n"
		"  wsctl info\n"
		"  wsctl info /mnt/ws\n"
		"  wsctl info --ags /mnt/ws\n"
		"  wsctl info --json /mnt/ws | jq '.mounts[0].streams[] | select(.reserved)'");
}

void App::add_run()
{
	constexpr unsigned max_streams = 1024;
	CLI::App *command = add("run", "Run a command with streams of its own", run_.json, [this] {
		run_.command = rejoin(line_.tail);
		need(run_.command, "-- COMMAND");
		if (run_.path.empty() == run_.hold.empty())
			throw CLI::RequiredError("either PATH or --hold");
		if (run_.exec && run_.json)
			throw CLI::ExcludesError("--exec", "--json");
		status_ = wsctl::run(context_, run_);
	});

	command->add_option("-n,--streams", run_.streams, "how many streams to reserve")
		->check(CLI::Range(1U, max_streams))
		->capture_default_str();
	command->add_option("--hold", run_.hold,
			    "use the streams that 'wsctl hold' holds by this name")
		->type_name("NAME")
		->excludes("--streams");
	command->add_flag("--exec", run_.exec, "become the command, rather than wait for it");
	command->add_option("PATH", run_.path, "mount point, or a file on the device");
	command->footer(
		"The command finds the descriptors of its streams in the environment:\n"
		"  WSFS_STREAMS=2         how many\n"
		"  WSFS_STREAM_FDS=5,6    the descriptors, by slot\n"
		"  WSFS_STREAM_IDS=0,3    the ids as 'wsctl info' shows them\n"
		"The streams are released when the command has ended. The exit status is the\n"
		"command's, or 128 and the number of the signal that ended it; 125 if wsctl\n"
		"failed, 126 or 127 if the command could not be run or found. With --json a\n"
		"report goes to standard error at the end.\n"
		"\n"
		"Examples:\n"
		"  wsctl run -n 2 /mnt/ws -- sh -c '\n"
		"      touch /mnt/ws/a /mnt/ws/b\n"
		"      wsctl set --stream 0 /mnt/ws/a\n"
		"      wsctl set --stream 1 /mnt/ws/b\n"
		"      my-database /mnt/ws'\n"
		"  wsctl run --hold db --exec -- my-database /mnt/ws   # in a unit's ExecStart=");
}

void App::add_set()
{
	CLI::App *command = add("set", "Set a stream on files", set_.json, [this] {
		append(set_.operands.files, rejoin(line_.tail));
		need(set_.operands);
		if (int{set_.slot.has_value()} + int{set_.fd.has_value()} +
			    int{!set_.held.empty()} !=
		    1)
			throw CLI::RequiredError("one of --stream, --fd and --held");
		status_ = wsctl::set(context_, set_);
	});

	command->add_option("-s,--stream", set_.slot,
			    "slot of the surrounding 'wsctl run', from 0 on");
	command->add_option("--fd", set_.fd, "number of an inherited stream descriptor")
		->check(CLI::NonNegativeNumber);
	command->add_option("--held", set_.held,
			    "stream that 'wsctl hold' holds, slot 0 if not given")
		->type_name("NAME[:SLOT]");
	command->add_flag("-v,--verbose", set_.verbose, "say where each file's home is");
	add_files(command, set_.operands,
		  "files that exist, best while empty; directories, for the files "
		  "to be made in them");
	command->footer(
		"Examples:\n"
		"  wsctl set --stream 0 a.dat      # inside 'wsctl run'\n"
		"  wsctl set --fd 5 *.sst\n"
		"  wsctl set --held db:1 *.sst\n"
		"  wsctl set --held db:0 /mnt/ws/wal    # files made in it from now on\n"
		"  wsctl set --stream 1 --recursive /mnt/ws/cache\n"
		"  find /mnt/ws -name '*.sst' -print0 | wsctl set -s 1 --null --files-from -");
}

void App::add_clear()
{
	CLI::App *command = add("clear", "Take the stream of files away", clear_.json, [this] {
		append(clear_.operands.files, rejoin(line_.tail));
		need(clear_.operands);
		status_ = wsctl::clear(context_, clear_);
	});

	add_files(command, clear_.operands, "files or directories");
	command->footer("What is written stays where it is.\n"
			"\n"
			"Example:\n"
			"  wsctl clear a.dat b.dat");
}

void App::add_bmap()
{
	CLI::App *command =
		add("bmap", "Show the extents of files, as xfs_bmap -vv does", bmap_.json, [this] {
			append(bmap_.files, rejoin(line_.tail));
			need(bmap_.files, "FILE");
			status_ = bmap(context_, bmap_);
		});

	command->add_flag("-l,--legend", bmap_.legend,
			  "explain the FLAGS, STREAM and PLACE columns");
	command->add_option("FILE", bmap_.files,
			    "regular files on wsfs or XFS, or directories to search");
	command->footer(
		"Offsets, blocks and lengths count 512 bytes. STREAM is whose AGs these are;\n"
		"PLACE is ok inside the AGs of the file's own stream, STRAY outside, and -\n"
		"where the file carries no stream now.\n"
		"\n"
		"Examples:\n"
		"  wsctl bmap a.dat\n"
		"  wsctl bmap /mnt/ws/tables\n"
		"  wsctl bmap --json *.sst | jq -r '.files[] | select(.extents[].place == "
		"\"stray\").path'");
}

void App::add_check()
{
	CLI::App *command =
		add("check", "Check that data lies where it should", check_.json, [this] {
			std::vector<Arguments> groups{check_files_};

			groups.insert(groups.end(), line_.tail.begin(), line_.tail.end());
			std::erase_if(groups, [](const Arguments &group) { return group.empty(); });
			if (groups.size() > 1 && !check_.isolated)
				throw CLI::ValidationError("--",
							   "groups of files go with --isolated");
			if (groups.empty() && check_.file_streams.empty())
				throw CLI::RequiredError("FILE");
			check_.groups = std::move(groups);
			status_ = check(context_, check_);
		});

	command->add_option("--within", check_.within,
			    "the stream in whose AGs all files have to lie");
	command->add_option("--stream", check_.file_streams,
			    "the stream in whose AGs this file has to lie")
		->type_name("FILE=ID")
		->allow_extra_args(false);
	command->add_flag("--isolated", check_.isolated,
			  "no AG may hold data of two streams, or of two groups of files");
	command->add_option("--max-extents", check_.max_extents, "no file may have more extents");
	command->add_flag("--spread{1}", check_.spread,
			  "files take turns over the AGs: their numbers differ by at most 1 (N)");
	command->add_option("--junit", check_.junit, "write the results as JUnit XML as well")
		->type_name("FILE");
	command->add_flag("-q,--quiet", check_.quiet, "no summary; only what is wrong");
	command->add_option("FILE", check_files_, "files, or directories to search");
	command->footer(
		"Without options each file that carries a stream has to lie in that stream's\n"
		"AGs. The exit status is 0 if all is right, 1 if not, with a line for each file\n"
		"that is wrong, and 2 if something could not be checked.\n"
		"\n"
		"Examples:\n"
		"  wsctl check /mnt/ws\n"
		"  wsctl check --within 0 a.dat && wsctl check --within 1 b.dat c.dat\n"
		"  wsctl check --stream a.dat=0 --stream b.dat=1 --isolated\n"
		"  wsctl check --isolated a.dat -- b.dat c.dat    # on plain XFS too\n"
		"  wsctl check --max-extents 1 *.sst\n"
		"  wsctl check --spread --junit results.xml /mnt/ws");
}

} // namespace

int run_app(const std::vector<std::string> &arguments, const ws::Host &host, const Streams &streams)
{
	App app(arguments, host, streams);

	if (!arguments.empty() && arguments.front() == complete_command)
		return app.complete(Arguments(std::next(arguments.begin()), arguments.end()));
	return app.run();
}

} // namespace wsctl
