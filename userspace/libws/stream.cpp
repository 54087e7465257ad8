// SPDX-License-Identifier: GPL-2.0
#include <ws/stream.h>

#include <cerrno>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/write_streams.h>

#include <ws/error.h>
#include <ws/parse.h>

namespace ws
{

namespace
{

// The value behind "key:" at the start of a line.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key)
{
	while (!text.empty()) {
		const auto end = text.find('\n');
		const auto line = text.substr(0, end);

		if (line.starts_with(key) && line.substr(key.size()).starts_with(':'))
			return trim(line.substr(key.size() + 1));
		if (end == std::string_view::npos)
			break;
		text.remove_prefix(end + 1);
	}
	return std::nullopt;
}

} // namespace

std::optional<StreamFdInfo> parse_stream_fdinfo(std::string_view text)
{
	const auto id = parse_id(value_of(text, "stream").value_or(""));
	const auto set = value_of(text, "ag_set");
	const auto ags = set ? AgSet::parse(*set) : std::nullopt;

	if (!id || !ags)
		return std::nullopt;
	return StreamFdInfo{
		.id = *id,
		.ag_set = *ags,
		.files = parse_number(value_of(text, "files").value_or("")).value_or(0),
		.bytes = parse_number(value_of(text, "bytes").value_or("")).value_or(0),
		.dev = std::string(value_of(text, "dev").value_or("")),
	};
}

std::optional<StreamFdInfo> stream_fdinfo(const Host &host, int fd)
{
	return parse_stream_fdinfo(read_file(host.proc_self / "fdinfo" / std::to_string(fd)));
}

std::uint32_t streams_available(const Host &host, int fd, const std::string &path)
{
	__u32 max = 0;
	const int result = host.kernel.ioctl(fd, FS_IOC_WRITE_STREAM_GET_MAX, &max);

	if (result < 0)
		throw Error(path, "FS_IOC_WRITE_STREAM_GET_MAX", -result);
	return max;
}

Stream Stream::reserve(const Host &host, int fd, const std::string &path)
{
	constexpr int lowest = 3; // never in the place of a closed stdin, stdout or stderr
	const int result = host.kernel.ioctl(fd, FS_IOC_WRITE_STREAM_ALLOC, nullptr);

	if (result < 0)
		throw Error(path, "FS_IOC_WRITE_STREAM_ALLOC", -result);
	UniqueFd stream(result);
	if (result < lowest) {
		UniqueFd moved(::fcntl(result, F_DUPFD_CLOEXEC, lowest));

		if (!moved)
			throw Error(path, "fcntl(F_DUPFD_CLOEXEC)", errno);
		stream = std::move(moved);
	}
	return Stream(std::move(stream));
}

std::optional<StreamFdInfo> Stream::info(const Host &host) const
{
	return stream_fdinfo(host, fd_.get());
}

} // namespace ws
