// SPDX-License-Identifier: GPL-2.0
// wsctl info: mounts, geometry, streams.
#include <algorithm>
#include <cerrno>
#include <optional>

#include <sys/sysmacros.h>

#include <fmt/format.h>

#include <ws/filesystem.h>
#include <ws/mountinfo.h>
#include <ws/sysfs.h>

#include "commands.h"
#include "json.h"
#include "text.h"

namespace wsctl
{

namespace
{

struct Mount {
	ws::MountEntry entry;
	ws::Filesystem filesystem;
	std::optional<ws::DeviceState> state; // on wsfs
};

Mount look_at(const ws::Host &host, ws::MountEntry entry, int fd, const std::string &path)
{
	Mount mount{.entry = std::move(entry),
		    .filesystem = ws::Filesystem::of(host, fd, path),
		    .state = std::nullopt};

	if (mount.filesystem.type == ws::Filesystem::Type::wsfs)
		mount.state = ws::read_device(host, mount.filesystem.dev);
	return mount;
}

Mount mount_of(const ws::Host &host, const std::string &path)
{
	const ws::UniqueFd fd = ws::open_for_info(path);
	const auto id = host.kernel.mount_id(fd.get());
	ws::MountEntry entry;

	entry.mount_point = path;
	for (ws::MountEntry &candidate : ws::read_mounts(host)) {
		if (id && candidate.id == *id)
			entry = std::move(candidate);
	}
	return look_at(host, std::move(entry), fd.get(), path);
}

Mount mount_at(const ws::Host &host, ws::MountEntry entry)
{
	const ws::UniqueFd fd = ws::open_for_info(entry.mount_point);
	const std::string path = entry.mount_point;
	const auto id = host.kernel.mount_id(fd.get());

	if (id && *id != entry.id)
		throw ws::Error(path, "is hidden by another mount on top of it",
				"see what is mounted there: findmnt " + escape(path));
	return look_at(host, std::move(entry), fd.get(), path);
}

std::string lower_type(const Mount &mount)
{
	return mount.state ? mount.state->lower : "xfs";
}

std::string yes_no(bool value)
{
	return value ? "yes" : "no";
}

void write_streams(std::ostream &out, const ws::DeviceState &state)
{
	std::size_t width = std::string_view("AGS").size();

	for (const ws::StreamState &stream : state.streams)
		width = std::max(width, stream.ag_set.str().size());
	out << fmt::format("  STREAM  {:<{}}  RESERVED  FILES   HOMED  MISSED         BYTES\n",
			   "AGS", width);
	for (const ws::StreamState &stream : state.streams)
		out << fmt::format("  {:>6}  {:<{}}  {:<8}  {:>5}  {:>6}  {:>6}  {:>12}\n",
				   stream.id, stream.ag_set.str(), width, yes_no(stream.reserved),
				   stream.files, stream.homed, stream.missed, stream.bytes);
}

void write_text(const Context &context, const Mount &mount)
{
	const ws::Geometry &geometry = mount.filesystem.geometry;
	const dev_t device = mount.filesystem.device;
	std::ostream &out = context.out;

	out << escape(mount.entry.mount_point) << ": ";
	if (mount.state)
		out << fmt::format("wsfs over {}, ", escape(mount.entry.source));
	out << fmt::format("{} on {} ({}:{})\n", lower_type(mount),
			   escape(mount.state ? mount.filesystem.dev : mount.entry.source),
			   major(device), minor(device));
	if (geometry.ags.count != 0)
		out << fmt::format("  {} of {}, blocks of {}\n", plural(geometry.ags.count, "AG"),
				   binary_size(geometry.ags.sectors * ws::sector_size),
				   binary_size(geometry.block_size));
	if (!mount.state) {
		out << (mount.filesystem.streams == 0
				? "  no streams: mount wsfs over it to have some\n"
				: fmt::format("  {}\n",
					      plural(mount.filesystem.streams, "stream")));
		return;
	}
	const std::size_t streams = mount.state->streams.size();
	if (streams == 0) {
		out << (mount.state->lower == "xfs"
				? "  no streams (mounted with streams=0)\n"
				: "  no streams: the lower filesystem is not XFS\n");
		return;
	}
	out << fmt::format("  {}, {} reserved", plural(streams, "stream"), mount.state->reserved());
	if (mount.state->hints_reset != 0)
		out << fmt::format(", {} reset",
				   plural(mount.state->hints_reset, "life time hint"));
	out << '\n';
	write_streams(out, *mount.state);
}

Json stream_json(const ws::StreamState &stream)
{
	Json object = Json::object();

	object["id"] = stream.id;
	object["ag_set"] = stream.ag_set.str();
	object["reserved"] = stream.reserved;
	object["files"] = stream.files;
	object["homed"] = stream.homed;
	object["missed"] = stream.missed;
	object["bytes"] = stream.bytes;
	return object;
}

Json mount_json(const Mount &mount)
{
	const ws::Filesystem &filesystem = mount.filesystem;
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
	object["streams_max"] = filesystem.streams;
	object["hints_reset"] = mount.state ? Json(mount.state->hints_reset) : Json();
	Json &streams = object["streams"] = Json::array();
	if (mount.state) {
		for (const ws::StreamState &stream : mount.state->streams)
			streams.push_back(stream_json(stream));
	}
	return object;
}

} // namespace

int info(const Context &context, const InfoOptions &options)
{
	std::vector<Mount> mounts;
	Json errors = Json::array();
	int status = exit_ok;
	const auto collect = [&](const auto &get) {
		try {
			mounts.push_back(get());
		} catch (const ws::Error &error) {
			context.report(error);
			errors.push_back(json_error(error));
			status = exit_failed;
		}
	};

	if (!options.path.empty()) {
		collect([&] { return mount_of(context.host, options.path); });
	} else {
		for (const ws::MountEntry &entry : ws::read_mounts(context.host)) {
			if (entry.type == "wsfs")
				collect([&] { return mount_at(context.host, entry); });
		}
	}
	if (options.json) {
		Json document = json_document(context);

		Json &list = document["mounts"] = Json::array();
		for (const Mount &mount : mounts)
			list.push_back(mount_json(mount));
		document["errors"] = errors;
		write_json(context.out, document);
		return status;
	}
	for (const Mount &mount : mounts)
		write_text(context, mount);
	if (mounts.empty() && status == exit_ok)
		context.out << "no wsfs mounts; make one with: mount -t wsfs LOWERDIR MOUNTPOINT\n";
	return status;
}

} // namespace wsctl
