// SPDX-License-Identifier: GPL-2.0
#include <ws/mountinfo.h>

#include <algorithm>

#include <ws/parse.h>

namespace ws
{

namespace
{

std::vector<std::string_view> split(std::string_view text, char separator)
{
	std::vector<std::string_view> parts;

	for (;;) {
		const auto end = text.find(separator);

		parts.push_back(text.substr(0, end));
		if (end == std::string_view::npos)
			return parts;
		text.remove_prefix(end + 1);
	}
}

bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

} // namespace

std::string unescape_octal(std::string_view text)
{
	std::string plain;

	for (std::size_t i = 0; i < text.size(); i++) {
		if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] <= '3' &&
		    is_octal(text[i + 1]) && is_octal(text[i + 2]) && is_octal(text[i + 3])) {
			plain += static_cast<char>((text[i + 1] - '0') * 64 +
						   (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
			i += 3;
		} else {
			plain += text[i];
		}
	}
	return plain;
}

std::optional<MountEntry> parse_mount_line(std::string_view line)
{
	// id parent major:minor root mountpoint options [tag...] - type source options
	const auto fields = split(line, ' ');
	const auto dash = std::ranges::find(fields, "-");

	if (dash - fields.begin() < 6 || fields.end() - dash < 3)
		return std::nullopt;
	const auto id = parse_number(fields[0]);
	if (!id)
		return std::nullopt;
	return MountEntry{
		.id = *id,
		.mount_point = unescape_octal(fields[4]),
		.type = unescape_octal(dash[1]),
		.source = unescape_octal(dash[2]),
		.super_options = fields.end() - dash > 3 ? std::string(dash[3]) : std::string(),
	};
}

std::vector<MountEntry> read_mounts(const Host &host)
{
	const std::string text = read_file(host.proc_self / "mountinfo");
	std::vector<MountEntry> mounts;

	for (const std::string_view line : split(text, '\n')) {
		if (auto entry = parse_mount_line(line))
			mounts.push_back(std::move(*entry));
	}
	return mounts;
}

} // namespace ws
