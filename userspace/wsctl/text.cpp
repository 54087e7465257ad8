// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <array>

#include <fmt/format.h>

namespace wsctl
{

namespace
{

// The length of the UTF-8 character at the start of @text, 0 where there is none.
std::size_t utf8_length(std::string_view text)
{
	struct Form {
		unsigned char mask;
		unsigned char lead;
		std::uint32_t least; // shorter forms have to be used below
	};
	constexpr std::array<Form, 4> forms{Form{0x80, 0x00, 0}, Form{0xe0, 0xc0, 0x80},
					    Form{0xf0, 0xe0, 0x800}, Form{0xf8, 0xf0, 0x10000}};
	const auto first = static_cast<unsigned char>(text[0]);

	for (std::size_t i = 0; i < forms.size(); i++) {
		const Form &form = forms.at(i);

		if ((first & form.mask) != form.lead)
			continue;
		std::uint32_t code = first & static_cast<unsigned char>(~form.mask);
		if (text.size() < i + 1)
			return 0;
		for (std::size_t j = 1; j <= i; j++) {
			const auto next = static_cast<unsigned char>(text[j]);

			if ((next & 0xc0U) != 0x80)
				return 0;
			code = code << 6U | (next & 0x3fU);
		}
		const bool surrogate = code >= 0xd800 && code <= 0xdfff;
		return code < form.least || code > 0x10ffff || surrogate ? 0 : i + 1;
	}
	return 0;
}

bool is_control(std::string_view character)
{
	const auto first = static_cast<unsigned char>(character[0]);

	if (character.size() == 1)
		return first < 0x20 || first == 0x7f;
	// U+0080 to U+009F
	return character.size() == 2 && first == 0xc2 &&
	       static_cast<unsigned char>(character[1]) < 0xa0;
}

} // namespace

std::string escape(std::string_view name)
{
	std::string text;

	while (!name.empty()) {
		const std::size_t length = utf8_length(name);
		const std::string_view character = name.substr(0, length == 0 ? 1 : length);

		name.remove_prefix(character.size());
		if (character == "\\")
			text += "\\\\";
		else if (character == "\n")
			text += "\\n";
		else if (character == "\t")
			text += "\\t";
		else if (length != 0 && !is_control(character))
			text += character;
		else
			for (const char byte : character)
				text += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
	}
	return text;
}

bool is_utf8(std::string_view text)
{
	while (!text.empty()) {
		const std::size_t length = utf8_length(text);

		if (length == 0)
			return false;
		text.remove_prefix(length);
	}
	return true;
}

std::string hex(std::string_view bytes)
{
	std::string text;

	for (const char byte : bytes)
		text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
	return text;
}

std::string binary_size(std::uint64_t bytes)
{
	constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	std::size_t unit = 0;

	while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size()) {
		bytes /= 1024;
		unit++;
	}
	return fmt::format("{} {}", bytes, units.at(unit));
}

std::string short_size(std::uint64_t bytes)
{
	constexpr std::array units{"", "K", "M", "G", "T", "P", "E"};
	constexpr std::uint64_t step = 1024;
	std::size_t unit = 0;
	std::uint64_t tenths = 0;

	while (bytes >= step) {
		tenths = bytes % step * 10 / step;
		bytes /= step;
		unit++;
	}
	return tenths == 0 ? fmt::format("{}{}", bytes, units.at(unit))
			   : fmt::format("{}.{}{}", bytes, tenths, units.at(unit));
}

std::string plural(std::uint64_t count, std::string_view noun, std::string_view ending)
{
	return fmt::format("{} {}{}", count, noun, count == 1 ? "" : ending);
}

} // namespace wsctl
