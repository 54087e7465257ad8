// SPDX-License-Identifier: GPL-2.0
#include <ws/sysfs.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/parse.h>

namespace ws
{

namespace
{

constexpr const char *mismatch = "wsctl and the loaded wsfs module may be of different versions";
constexpr std::uint64_t max_streams = 1024;

std::uint64_t read_value(const std::filesystem::path &path,
			 std::uint64_t max = std::numeric_limits<std::uint64_t>::max())
{
	const auto value = parse_number(trim(read_file(path)), max);

	if (!value)
		throw Error(path, "is not a number in range", mismatch);
	return *value;
}

std::vector<std::uint32_t> read_ids(const std::filesystem::path &path)
{
	std::vector<std::uint32_t> ids;
	std::istringstream words(read_file(path));

	for (std::string word; words >> word;) {
		const auto id = parse_number(word, max_streams - 1);

		if (!id)
			throw Error(path, "is not a list of streams", mismatch);
		ids.push_back(static_cast<std::uint32_t>(*id));
	}
	return ids;
}

StreamState read_stream(const std::filesystem::path &dir, std::uint32_t id)
{
	const auto set = AgSet::parse(read_file(dir / "ag_set"));

	if (!set)
		throw Error(dir / "ag_set", "is not a list of allocation groups", mismatch);
	return StreamState{
		.id = id,
		.ag_set = *set,
		.reserved = read_value(dir / "reserved", 1) == 1,
		.files = read_value(dir / "files"),
		.homed = read_value(dir / "homed"),
		.missed = read_value(dir / "missed"),
		.anchored = read_value(dir / "anchored"),
		.overflowed = read_value(dir / "overflowed"),
		.overflow_order = read_ids(dir / "overflow_order"),
		.bytes = read_value(dir / "bytes"),
	};
}

} // namespace

const StreamState *DeviceState::find(std::uint32_t id) const noexcept
{
	const auto found = std::ranges::find(streams, id, &StreamState::id);

	return found == streams.end() ? nullptr : &*found;
}

std::vector<std::uint32_t> DeviceState::owners_of(std::uint32_t agno) const
{
	std::vector<std::uint32_t> ids;

	for (const StreamState &stream : streams) {
		if (stream.ag_set.contains(agno))
			ids.push_back(stream.id);
	}
	return ids;
}

std::size_t DeviceState::reserved() const noexcept
{
	return static_cast<std::size_t>(std::ranges::count(streams, true, &StreamState::reserved));
}

DeviceState read_device(const Host &host, const std::string &dev)
{
	// The name comes from the kernel, but it must not lead out of sysfs.
	if (dev.empty() || dev == "." || dev == ".." || dev.find('/') != std::string::npos)
		throw Error(host.sysfs, fmt::format("'{}' is no device name", dev), mismatch);

	const auto dir = host.sysfs / dev;
	DeviceState state;

	state.lower = trim(read_file(dir / "lower"));
	state.hints_reset = read_value(dir / "hints_reset");

	const std::uint64_t count = read_value(dir / "streams", max_streams);
	for (std::uint32_t id = 0; id < count; id++)
		state.streams.push_back(read_stream(dir / "stream" / std::to_string(id), id));
	return state;
}

} // namespace ws
