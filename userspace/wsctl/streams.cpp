// SPDX-License-Identifier: GPL-2.0
// wsctl streams: who holds which stream.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ws/holders.h>

#include "commands.h"
#include "json.h"
#include "mounts.h"
#include "set_aside.h"
#include "text.h"

namespace wsctl
{

namespace
{

struct Row {
	const ws::StreamState &stream;
	std::optional<SetAside> aside;
	std::vector<const ws::Holder *> holders;
};

// Where the kernel does not tell a holder's device, its AG set has to do.
bool is_same(const ws::Holder &holder, const std::string &dev, const ws::StreamState &stream)
{
	if (holder.stream.id != stream.id)
		return false;
	return holder.stream.dev.empty() ? holder.stream.ag_set == stream.ag_set
					 : holder.stream.dev == dev;
}

std::vector<Row> rows_of(const MountInfo &mount, const ws::DeviceState &state,
			 const ws::Holders &holders, bool all)
{
	const std::string &dev = mount.mount.filesystem().dev;
	const auto &streams = state.streams;
	std::vector<Row> rows;

	for (const ws::StreamState &stream : streams) {
		Row row{.stream = stream,
			.aside = set_aside(mount.entry.super_options, streams.size(), stream.id),
			.holders = {}};

		for (const ws::Holder &holder : holders.list) {
			if (is_same(holder, dev, stream))
				row.holders.push_back(&holder);
		}
		if (all || stream.reserved || !row.holders.empty())
			rows.push_back(std::move(row));
	}
	return rows;
}

// In place of a holder, where none is shown.
std::string nobody_text(const Row &row)
{
	std::string who = row.stream.reserved ? "a process that is not shown" : "free";

	if (row.aside)
		who = row.aside->text();
	return fmt::format("{:>7}  ({})", "-", who);
}

std::string holder_text(const ws::Holder &holder)
{
	constexpr std::size_t longest = 60;
	std::string command = escape(holder.command);

	if (command.size() > longest) {
		// Not in the middle of a character.
		std::size_t cut = longest;

		while (cut > 0 && (static_cast<unsigned char>(command[cut]) & 0xc0U) == 0x80)
			cut--;
		command = command.substr(0, cut) + "...";
	}
	return fmt::format("{:>7}  {}", holder.pid, command);
}

void write_text(std::ostream &out, const MountInfo &mount, const ws::DeviceState &state,
		const std::vector<Row> &rows)
{
	std::size_t width = std::string_view("AGS").size();

	out << fmt::format("{}: {}, {} reserved\n", escape(mount.entry.mount_point),
			   plural(state.streams.size(), "stream"), state.reserved());
	if (rows.empty())
		return;
	for (const Row &row : rows)
		width = std::max(width, row.stream.ag_set.str().size());
	out << fmt::format("  STREAM  {:<{}}  FILES         BYTES   HOMED  MISSED  ANCHORED      "
			   "PID  COMMAND\n",
			   "AGS", width);
	for (const Row &row : rows) {
		const ws::StreamState &stream = row.stream;
		const std::string holder =
			row.holders.empty() ? nobody_text(row) : holder_text(*row.holders.front());

		out << fmt::format("  {:>6}  {:<{}}  {:>5}  {:>12}  {:>6}  {:>6}  {:>8}  {}\n",
				   stream.id, stream.ag_set.str(), width, stream.files,
				   stream.bytes, stream.homed, stream.missed, stream.anchored,
				   holder);
		for (std::size_t i = 1; i < row.holders.size(); i++)
			out << fmt::format("{:>{}}{}\n", "", 59 + width,
					   holder_text(*row.holders[i]));
		if (stream.overflowed != 0)
			out << fmt::format(
				"          {} went on in other AGs; order of streams: {}\n",
				plural(stream.overflowed, "file"),
				fmt::join(stream.overflow_order, " "));
	}
}

Json row_json(const Row &row)
{
	Json object = Json::object();

	object["id"] = row.stream.id;
	object["ag_set"] = row.stream.ag_set.str();
	object["reserved"] = row.stream.reserved;
	object["set_aside"] = set_aside_json(row.aside);
	object["files"] = row.stream.files;
	object["bytes"] = row.stream.bytes;
	object["homed"] = row.stream.homed;
	object["missed"] = row.stream.missed;
	object["anchored"] = row.stream.anchored;
	object["overflowed"] = row.stream.overflowed;
	object["overflow_order"] = row.stream.overflow_order;
	Json &list = object["holders"] = Json::array();
	for (const ws::Holder *holder : row.holders) {
		Json entry = Json::object();

		entry["pid"] = holder->pid;
		json_name(entry, "command", holder->command);
		entry["fds"] = holder->fds;
		list.push_back(std::move(entry));
	}
	return object;
}

// Waits, unless a signal asks to end.
bool sleep_for(double seconds)
{
	const auto whole = static_cast<time_t>(seconds);
	const auto nanoseconds = static_cast<long>((seconds - static_cast<double>(whole)) * 1e9);
	const timespec time{.tv_sec = whole, .tv_nsec = nanoseconds};

	return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == 0;
}

class Look
{
public:
	Look(const Context &context, const StreamsOptions &options)
	    : context_(context), options_(options)
	{
	}

	int once();

private:
	void failed(const ws::Error &error);

	const Context &context_;
	const StreamsOptions &options_;
	Json errors_ = Json::array();
	int status_ = exit_ok;
};

void Look::failed(const ws::Error &error)
{
	context_.report(error);
	errors_.push_back(json_error(error));
	status_ = exit_failed;
}

int Look::once()
{
	const auto mounts = find_mounts(context_.host, options_.path,
					[this](const ws::Error &error) { failed(error); });
	ws::Holders holders;
	Json document = json_document(context_);
	Json &list = document["mounts"] = Json::array();

	try {
		holders = ws::find_holders(context_.host);
	} catch (const ws::Error &error) {
		failed(error);
	}
	if (options_.watch && !options_.json && context_.terminal)
		context_.out << "\x1b[H\x1b[2J";
	for (const MountInfo &mount : mounts) {
		if (!mount.state) {
			failed(ws::Error(mount.entry.mount_point,
					 "is plain XFS, which has no streams",
					 "mount wsfs over it: mount -t wsfs LOWERDIR MOUNTPOINT"));
			continue;
		}
		const ws::DeviceState &state = *mount.state;
		const auto rows = rows_of(mount, state, holders, options_.all);

		if (!options_.json) {
			write_text(context_.out, mount, state, rows);
			continue;
		}
		Json entry = Json::object();
		json_name(entry, "mount_point", mount.entry.mount_point);
		entry["dev"] = mount.mount.filesystem().dev;
		entry["streams_max"] = state.streams.size();
		Json &streams = entry["streams"] = Json::array();
		for (const Row &row : rows)
			streams.push_back(row_json(row));
		list.push_back(std::move(entry));
	}
	document["unreadable_processes"] = holders.unreadable;
	document["errors"] = errors_;
	if (!options_.json) {
		if (mounts.empty() && status_ == exit_ok)
			context_.out << "no wsfs mounts; make one with: mount -t wsfs LOWERDIR "
					"MOUNTPOINT\n";
		if (holders.unreadable != 0)
			context_.out << fmt::format("{} could not be looked into; run as root\n",
						    plural(holders.unreadable, "process", "es"));
	} else if (options_.watch) {
		// A document a line.
		context_.out << document.dump(-1, ' ', false, Json::error_handler_t::replace)
			     << '\n';
	} else {
		write_json(context_.out, document);
	}
	context_.out.flush();
	return status_;
}

} // namespace

int streams(const Context &context, const StreamsOptions &options)
{
	if (!options.watch)
		return Look(context, options).once();

	int status = exit_ok;
	for (unsigned looks = 0; !options.count || looks < *options.count; looks++) {
		if (looks > 0 && !sleep_for(options.interval))
			break;
		status = std::max(status, Look(context, options).once());
		if (!context.out)
			break;
	}
	return status;
}

} // namespace wsctl
