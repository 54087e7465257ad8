// SPDX-License-Identifier: GPL-2.0
#include <ws/holders.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <ws/error.h>
#include <ws/parse.h>

namespace ws
{

namespace
{

namespace fs = std::filesystem;

std::optional<int> number_of(const fs::path &path)
{
	const auto number = parse_number(path.filename().string(), std::numeric_limits<int>::max());

	return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::string command_of(const fs::path &process)
{
	try {
		const std::string command = command_text(read_file(process / "cmdline"));

		// Kernel threads and zombies have no arguments.
		return command.empty() ? std::string(trim(read_file(process / "comm"))) : command;
	} catch (const Error &) {
		return {};
	}
}

// A link that says what the descriptor is costs less than its fdinfo.
bool may_be_stream(const fs::path &process, const fs::path &fd)
{
	std::error_code failed;
	const fs::path target = fs::read_symlink(process / "fd" / fd, failed);

	return failed || target.native().find("stream") != std::string::npos;
}

// Nothing where the descriptor is no stream, or closed meanwhile.
std::optional<StreamFdInfo> read_info(const fs::path &path)
{
	try {
		return parse_stream_fdinfo(read_file(path));
	} catch (const Error &) {
		return std::nullopt;
	}
}

void look_into(const fs::path &process, pid_t pid, Holders &holders)
{
	std::map<std::pair<std::string, std::uint32_t>, Holder> found;
	std::error_code failed;
	fs::directory_iterator entries(process / "fdinfo", failed);

	for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
		const auto fd = number_of(entries->path());
		if (!fd || !may_be_stream(process, entries->path().filename()))
			continue;
		auto info = read_info(entries->path());
		if (!info)
			continue;
		Holder &holder = found[{info->dev, info->id}];
		holder.pid = pid;
		holder.fds.push_back(*fd);
		holder.stream = std::move(*info);
	}
	if (failed == std::errc::permission_denied)
		holders.unreadable++;
	for (auto &[key, holder] : found) {
		holder.command = command_of(process);
		std::ranges::sort(holder.fds);
		holders.list.push_back(std::move(holder));
	}
}

} // namespace

std::string command_text(std::string_view cmdline)
{
	std::string text(cmdline);

	while (text.ends_with('\0'))
		text.pop_back();
	std::ranges::replace(text, '\0', ' ');
	return text;
}

Holders find_holders(const Host &host)
{
	Holders holders;
	std::error_code failed;
	fs::directory_iterator entries(host.proc, failed);

	if (failed)
		throw Error(host.proc, "opendir", failed.value());
	for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
		if (const auto pid = number_of(entries->path()))
			look_into(entries->path(), *pid, holders);
	}
	std::ranges::sort(holders.list, {}, [](const Holder &holder) {
		return std::tuple(holder.pid, holder.stream.dev, holder.stream.id);
	});
	return holders;
}

} // namespace ws
