// SPDX-License-Identifier: GPL-2.0
#include "fio_sites.h"

#include <cerrno>
#include <filesystem>

#include <sys/stat.h>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/filesystem.h>
#include <ws/mountinfo.h>

#include "text.h"

namespace wsctl
{

namespace
{

constexpr const char *plain_name = "plain XFS";

struct Directory {
	ws::Filesystem filesystem;
	ino_t inode = 0;
	std::optional<std::uint64_t> mount;
};

Directory look_at(const ws::Host &host, const std::string &path)
{
	const ws::UniqueFd fd = ws::open_for_info(path);
	struct stat st = {};

	if (fstat(fd.get(), &st) != 0)
		throw ws::Error(path, "fstat", errno);
	if (!S_ISDIR(st.st_mode))
		throw ws::Error(path, "is not a directory", "name a directory to make files in");
	return {.filesystem = ws::Filesystem::of(host, fd.get(), path),
		.inode = st.st_ino,
		.mount = host.kernel.mount_id(fd.get())};
}

bool is_plain(const ws::Filesystem &filesystem)
{
	return filesystem.type == ws::Filesystem::Type::xfs && filesystem.streams == 0;
}

// The directory @path of a wsfs mount as the XFS below has it.
std::string below(const ws::Host &host, const std::string &path, const Directory &above)
{
	const std::filesystem::path full = std::filesystem::canonical(path);

	for (const ws::MountEntry &entry : ws::read_mounts(host)) {
		if (!above.mount || entry.id != *above.mount)
			continue;
		const std::filesystem::path rest = full.lexically_relative(entry.mount_point);
		const std::string dir = rest == "." ? entry.source : (entry.source / rest).string();
		try {
			const Directory found = look_at(host, dir);

			// A mount of a part of wsfs, or one that hides the XFS, leads elsewhere.
			if (is_plain(found.filesystem) && found.inode == above.inode &&
			    found.filesystem.device == above.filesystem.device)
				return dir;
		} catch (const ws::Error &) {
			break; // the source is a device, or hidden
		}
	}
	throw ws::Error(path, "the XFS below is not seen anywhere that can be told from the mount",
			"mount its device as XFS too, and name a directory there: --plain DIR");
}

FioSite site(const char *name, const std::string &dir, const ws::Filesystem &filesystem)
{
	return {.name = name, .dir = dir, .device = filesystem.device};
}

FioSite plain_site(const ws::Host &host, const std::string &path)
{
	const Directory found = look_at(host, path);

	if (!is_plain(found.filesystem))
		throw ws::Error(path, "is not on plain XFS",
				"name a directory of the XFS that wsfs is mounted over");
	return site(plain_name, path, found.filesystem);
}

} // namespace

std::vector<FioSite> find_fio_sites(const ws::Host &host, const std::string &path,
				    const std::string &plain, std::uint32_t streams)
{
	const Directory found = look_at(host, path);
	const bool wsfs = found.filesystem.type == ws::Filesystem::Type::wsfs;
	std::vector<FioSite> sites;

	if (is_plain(found.filesystem)) {
		if (!plain.empty())
			throw ws::Error(path, "is on plain XFS, and so is --plain",
					"name a directory on wsfs, or leave --plain out");
		return {site(plain_name, path, found.filesystem)};
	}
	if (streams > found.filesystem.streams)
		throw ws::Error(
			path,
			fmt::format("has {}, and the job wants {}",
				    plural(found.filesystem.streams, "stream"), streams),
			fmt::format("mount with -o streams={}, or make a job with fewer: wsctl "
				    "fio gen --streams N",
				    streams));
	if (!plain.empty())
		sites.push_back(plain_site(host, plain));
	else if (wsfs)
		sites.push_back(plain_site(host, below(host, path, found)));
	else // an XFS with streams of its own: the same files without them
		sites.push_back(site("no streams", path, found.filesystem));
	sites.push_back(site(wsfs ? "wsfs" : "streams", path, found.filesystem));
	sites.back().streams = true;
	return sites;
}

} // namespace wsctl
