// SPDX-License-Identifier: GPL-2.0
#include "walk.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <ranges>
#include <vector>

#include <dirent.h>
#include <sys/stat.h>

namespace wsctl
{

namespace
{

std::vector<std::string> names_in(const std::string &dir)
{
	const auto close = [](DIR *stream) { closedir(stream); };
	const std::unique_ptr<DIR, decltype(close)> stream(opendir(dir.c_str()), close);
	std::vector<std::string> names;

	if (!stream)
		throw ws::Error(dir, "opendir", errno);
	for (;;) {
		errno = 0;
		const dirent *entry = readdir(stream.get());

		if (!entry && errno != 0)
			throw ws::Error(dir, "readdir", errno);
		if (!entry)
			break;
		const std::string_view name = entry->d_name;
		if (name != "." && name != "..")
			names.emplace_back(name);
	}
	std::ranges::sort(names);
	return names;
}

} // namespace

void walk_files(const std::string &path, const std::function<void(const std::string &)> &visit,
		const std::function<void(const ws::Error &)> &failed)
{
	struct stat top = {};
	std::vector<std::string> pending{path}; // the next one is the last

	if (stat(path.c_str(), &top) != 0)
		return failed(ws::Error(path, "stat", errno));
	if (!S_ISDIR(top.st_mode))
		return visit(path);
	while (!pending.empty()) {
		const std::string name = std::move(pending.back());
		struct stat st = top;

		pending.pop_back();
		// The top itself may be a link to the directory that is meant.
		if (name != path && lstat(name.c_str(), &st) != 0) {
			if (errno != ENOENT)
				failed(ws::Error(name, "lstat", errno));
			continue;
		}
		if (S_ISREG(st.st_mode)) {
			visit(name);
			continue;
		}
		if (!S_ISDIR(st.st_mode) || st.st_dev != top.st_dev)
			continue;
		try {
			const auto names = names_in(name);
			const std::string dir = name.ends_with('/') ? name : name + "/";

			for (const std::string &entry : std::views::reverse(names))
				pending.push_back(dir + entry);
		} catch (const ws::Error &error) {
			if (error.code() != ENOENT)
				failed(error);
		}
	}
}

} // namespace wsctl
