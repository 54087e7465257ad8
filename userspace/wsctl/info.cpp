// SPDX-License-Identifier: GPL-2.0
// wsctl info: mounts, geometry, streams.
#include <algorithm>
#include <cerrno>
#include <optional>

#include <sys/sysmacros.h>

#include <fmt/format.h>

#include <ws/sysfs.h>

#include "ag_table.h"
#include "commands.h"
#include "json.h"
#include "mounts.h"
#include "progress.h"
#include "set_aside.h"
#include "text.h"

namespace wsctl
{

namespace
{

std::string lower_type(const MountInfo &mount)
{
	return mount.state ? mount.state->lower : "xfs";
}

std::optional<SetAside> aside_of(const MountInfo &mount, const ws::DeviceState &state,
				 const ws::StreamState &stream)
{
	return set_aside(mount.entry.super_options, state.streams.size(), stream.id);
}

std::string_view reserved_text(const MountInfo &mount, const ws::DeviceState &state,
			       const ws::StreamState &stream)
{
	if (const auto aside = aside_of(mount, state, stream))
		return aside->word();
	return stream.reserved ? "yes" : "no";
}

void write_streams(std::ostream &out, const MountInfo &mount, const ws::DeviceState &state,
		   const AgTable &ags)
{
	std::size_t width = std::string_view("AGS").size();
	// Where the kernel tells of free space, columns for it.
	const auto usage = [&](const ws::StreamState &stream) {
		const AgTotals totals = ags.totals(stream.ag_set);

		return ags.empty() ? ""
				   : fmt::format("  {:>8}  {:>9}",
						 short_size(ags.bytes(totals.free_blocks)),
						 totals.inodes);
	};

	for (const ws::StreamState &stream : state.streams)
		width = std::max(width, stream.ag_set.str().size());
	out << fmt::format(
		"  STREAM  {:<{}}  RESERVED  FILES   HOMED  MISSED  ANCHORED         BYTES{}\n",
		"AGS", width, ags.empty() ? "" : "      FREE     INODES");
	for (const ws::StreamState &stream : state.streams)
		out << fmt::format("  {:>6}  {:<{}}  {:<8}  {:>5}  {:>6}  {:>6}  {:>8}  {:>12}{}\n",
				   stream.id, stream.ag_set.str(), width,
				   reserved_text(mount, state, stream), stream.files, stream.homed,
				   stream.missed, stream.anchored, stream.bytes, usage(stream));
}

void write_text(const Context &context, const MountInfo &mount, const AgTable &ags, bool each_ag)
{
	const ws::Filesystem &filesystem = mount.mount.filesystem();
	const ws::Geometry &geometry = filesystem.geometry;
	const dev_t device = filesystem.device;
	std::ostream &out = context.out;

	out << escape(mount.entry.mount_point) << ": ";
	if (mount.state)
		out << fmt::format("wsfs over {}, ", escape(mount.entry.source));
	out << fmt::format("{} on {} ({}:{})\n", lower_type(mount),
			   escape(mount.state ? filesystem.dev : mount.entry.source), major(device),
			   minor(device));
	if (geometry.ags.count != 0)
		out << fmt::format("  {} of {}, blocks of {}\n", plural(geometry.ags.count, "AG"),
				   binary_size(geometry.ags.sectors * ws::sector_size),
				   binary_size(geometry.block_size));
	if (!ags.empty()) {
		const AgTotals totals = ags.totals();

		out << fmt::format(
			"  {} free of {}, {} in use\n", short_size(ags.bytes(totals.free_blocks)),
			short_size(ags.bytes(totals.blocks)), plural(totals.inodes, "inode"));
	}
	if (each_ag && !ags.empty())
		ags.write(out, mount.state ? &*mount.state : nullptr);
	if (!mount.state) {
		out << (filesystem.streams == 0
				? "  no streams: mount wsfs over it to have some\n"
				: fmt::format("  {}\n", plural(filesystem.streams, "stream")));
		return;
	}
	const ws::DeviceState &state = *mount.state;
	const std::size_t streams = state.streams.size();
	if (streams == 0) {
		out << (state.lower == "xfs" ? "  no streams (mounted with streams=0)\n"
					     : "  no streams: the lower filesystem is not XFS\n");
		return;
	}
	out << fmt::format("  {}, {} reserved", plural(streams, "stream"), state.reserved());
	if (state.hints_reset != 0)
		out << fmt::format(", {} reset", plural(state.hints_reset, "life time hint"));
	out << '\n';
	write_streams(out, mount, state, ags);
}

Json stream_json(const MountInfo &mount, const ws::DeviceState &state,
		 const ws::StreamState &stream, const AgTable &ags)
{
	const AgTotals totals = ags.totals(stream.ag_set);
	Json object = Json::object();

	object["id"] = stream.id;
	object["ag_set"] = stream.ag_set.str();
	object["reserved"] = stream.reserved;
	object["set_aside"] = set_aside_json(aside_of(mount, state, stream));
	object["files"] = stream.files;
	object["homed"] = stream.homed;
	object["missed"] = stream.missed;
	object["anchored"] = stream.anchored;
	object["overflowed"] = stream.overflowed;
	object["bytes"] = stream.bytes;
	object["free_bytes"] = ags.empty() ? Json() : Json(ags.bytes(totals.free_blocks));
	object["inodes"] = ags.empty() ? Json() : Json(totals.inodes);
	return object;
}

Json mount_json(const MountInfo &mount, const AgTable &ags, bool each_ag)
{
	const ws::Filesystem &filesystem = mount.mount.filesystem();
	const AgTotals totals = ags.totals();
	Json object = Json::object();

	json_name(object, "mount_point", mount.entry.mount_point);
	object["type"] = mount.state ? "wsfs" : "xfs";
	json_name(object, "source", mount.entry.source);
	Json &lower = object["lower"] = Json::object();
	lower["type"] = lower_type(mount);
	lower["dev"] = filesystem.dev.empty() ? Json() : Json(filesystem.dev);
	lower["major"] = major(filesystem.device);
	lower["minor"] = minor(filesystem.device);
	Json &geometry = object["geometry"] = Json::object();
	geometry["block_size"] = filesystem.geometry.block_size;
	geometry["ag_blocks"] = filesystem.geometry.ag_blocks;
	geometry["ag_count"] = filesystem.geometry.ags.count;
	geometry["ag_bytes"] = filesystem.geometry.ags.sectors * ws::sector_size;
	object["free_bytes"] = ags.empty() ? Json() : Json(ags.bytes(totals.free_blocks));
	object["inodes"] = ags.empty() ? Json() : Json(totals.inodes);
	object["streams_max"] = filesystem.streams;
	object["hints_reset"] = mount.state ? Json(mount.state->hints_reset) : Json();
	Json &streams = object["streams"] = Json::array();
	if (mount.state) {
		for (const ws::StreamState &stream : mount.state->streams)
			streams.push_back(stream_json(mount, *mount.state, stream, ags));
	}
	if (each_ag)
		object["ags"] = ags.json(mount.state ? &*mount.state : nullptr);
	return object;
}

} // namespace

int info(const Context &context, const InfoOptions &options)
{
	Json errors = Json::array();
	Progress progress(context.err, context.progress, "extent");
	int status = exit_ok;
	const auto failed = [&](const ws::Error &error) {
		progress.hide();
		context.report(error);
		errors.push_back(json_error(error));
		status = exit_failed;
	};
	const std::vector<MountInfo> mounts = find_mounts(context.host, options.path, failed);
	Json document = json_document(context);
	Json &list = document["mounts"] = Json::array();

	for (const MountInfo &mount : mounts) {
		AgTable ags(mount.mount);

		try {
			if (options.ags)
				ags.find_largest(context.host, mount.mount, progress);
		} catch (const ws::Error &error) {
			// Others may not ask; the column stays empty.
			if (error.code() != EPERM)
				failed(error);
		}
		if (options.json)
			list.push_back(mount_json(mount, ags, options.ags));
		else
			write_text(context, mount, ags, options.ags);
	}
	if (options.json) {
		document["errors"] = errors;
		write_json(context.out, document);
	} else if (mounts.empty() && status == exit_ok) {
		context.out << "no wsfs mounts; make one with: mount -t wsfs LOWERDIR MOUNTPOINT\n";
	}
	return status;
}

} // namespace wsctl
