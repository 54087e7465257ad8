// SPDX-License-Identifier: GPL-2.0
#include "mounts.h"

#include "text.h"

namespace wsctl
{

namespace
{

MountInfo look_at(ws::MountEntry entry, ws::Mount mount)
{
	auto state = mount.state();

	return {.entry = std::move(entry), .mount = std::move(mount), .state = std::move(state)};
}

MountInfo mount_at(const ws::Host &host, const ws::MountEntry &entry)
{
	const std::string &path = entry.mount_point;
	ws::Mount mount = ws::Mount::at(host, path);
	const auto id = host.kernel.mount_id(mount.fd());

	if (id && *id != entry.id)
		throw ws::Error(path, "is hidden by another mount on top of it",
				"see what is mounted there: findmnt " + escape(path));
	return look_at(entry, std::move(mount));
}

} // namespace

MountInfo mount_of(const ws::Host &host, const std::string &path)
{
	ws::Mount mount = ws::Mount::at(host, path);
	const auto id = host.kernel.mount_id(mount.fd());
	ws::MountEntry entry;

	entry.mount_point = path;
	for (ws::MountEntry &candidate : ws::read_mounts(host)) {
		if (id && candidate.id == *id)
			entry = std::move(candidate);
	}
	return look_at(std::move(entry), std::move(mount));
}

std::vector<MountInfo> find_mounts(const ws::Host &host, const std::string &path,
				   const std::function<void(const ws::Error &)> &failed)
{
	std::vector<MountInfo> mounts;
	const auto collect = [&](const auto &find) {
		try {
			mounts.push_back(find());
		} catch (const ws::Error &error) {
			failed(error);
		}
	};

	if (!path.empty()) {
		collect([&] { return mount_of(host, path); });
		return mounts;
	}
	for (const ws::MountEntry &entry : ws::read_mounts(host)) {
		if (entry.type == "wsfs")
			collect([&] { return mount_at(host, entry); });
	}
	return mounts;
}

} // namespace wsctl
