// SPDX-License-Identifier: GPL-2.0
#include <ws/parse.h>

#include <array>
#include <cerrno>
#include <charconv>

#include <fcntl.h>

#include <ws/error.h>
#include <ws/unique_fd.h>

namespace ws
{

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max) noexcept
{
	const char *end = text.data() + text.size();
	std::uint64_t value = 0;
	// The end is passed as well. NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
	const auto [stop, error] = std::from_chars(text.data(), end, value);

	if (error != std::errc() || stop != end || value > max)
		return std::nullopt;
	return value;
}

std::optional<std::uint32_t> parse_id(std::string_view text) noexcept
{
	const auto value = parse_number(text, std::numeric_limits<std::uint32_t>::max());

	if (!value)
		return std::nullopt;
	return static_cast<std::uint32_t>(*value);
}

std::string read_file(const std::filesystem::path &path)
{
	const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	std::array<char, 4096> buffer{};
	std::string text;

	if (!fd)
		throw Error(path, "open", errno);
	for (;;) {
		const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			throw Error(path, "read", errno);
		if (got == 0)
			return text;
		text.append(buffer.data(), static_cast<std::size_t>(got));
	}
}

std::string_view trim(std::string_view text) noexcept
{
	constexpr std::string_view blank = " \t\r\n";
	const auto first = text.find_first_not_of(blank);

	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

} // namespace ws
