// SPDX-License-Identifier: GPL-2.0
#include "protocol.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ws/parse.h>

namespace hold
{

namespace
{

constexpr std::string_view greeting = "wsfs-hold 1";
constexpr std::string_view none = "-";
constexpr std::uint32_t max_errno = 4095;

struct VerbName {
	Verb verb;
	std::string_view name;
};

constexpr std::array verbs{VerbName{Verb::hold, "hold"}, VerbName{Verb::take, "take"},
			   VerbName{Verb::release, "release"}, VerbName{Verb::list, "list"}};

[[noreturn]] void malformed(const std::string &problem)
{
	throw ws::Error("wsfs-hold", "malformed message: " + problem,
			"wsctl and wsfs-holdd may be of different versions");
}

// Takes the next line off @text; every line has its newline.
std::string_view next_line(std::string_view &text)
{
	const auto end = text.find('\n');

	if (end == std::string_view::npos)
		malformed("a line without an end");
	const std::string_view line = text.substr(0, end);
	text.remove_prefix(end + 1);
	return line;
}

struct Field {
	std::string_view key;
	std::string_view value;
};

Field next_field(std::string_view &text)
{
	const std::string_view line = next_line(text);
	const auto equals = line.find('=');

	if (equals == std::string_view::npos)
		malformed("a line without '='");
	return {.key = line.substr(0, equals), .value = line.substr(equals + 1)};
}

void check_greeting(std::string_view &text)
{
	if (next_line(text) != greeting)
		malformed("another protocol");
}

std::uint32_t number(std::string_view text, std::uint32_t least, std::uint32_t most)
{
	const auto value = ws::parse_number(text, most);

	if (!value || *value < least)
		malformed("a number out of range");
	return static_cast<std::uint32_t>(*value);
}

std::optional<std::uint32_t> number_or_none(std::string_view text)
{
	if (text == none)
		return std::nullopt;
	return number(text, 0, std::numeric_limits<std::uint32_t>::max());
}

std::string name_from(std::string_view text)
{
	if (!is_name(text))
		malformed("not the name of a reservation");
	return std::string(text);
}

// A value has to stay on its line.
std::string flat(std::string text)
{
	std::ranges::replace_if(
		text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
	return text;
}

void require_keys(const std::map<std::string_view, std::string_view> &fields,
		  std::initializer_list<std::string_view> known, bool named)
{
	for (const auto &[key, value] : fields) {
		if (std::ranges::find(known, key) == known.end())
			malformed("an unknown key");
	}
	if (named && !fields.contains("name"))
		malformed("no name");
}

// "NAME GROUP DEV COUNT IDS"
Held parse_held(std::string_view text)
{
	std::vector<std::string_view> words;
	Held held;

	for (std::size_t begin = 0; begin <= text.size();) {
		const std::size_t end = std::min(text.find(' ', begin), text.size());

		words.push_back(text.substr(begin, end - begin));
		begin = end + 1;
	}
	if (words.size() != 5 || words[2].empty())
		malformed("not the state of a reservation");
	held.name = name_from(words[0]);
	held.group = number_or_none(words[1]);
	held.dev = words[2] == none ? "" : words[2];
	held.streams = number(words[3], 1, max_streams);
	if (words[4] == none)
		return held;
	for (std::string_view rest = words[4];;) {
		const auto comma = rest.find(',');
		held.ids.push_back(number(rest.substr(0, comma), 0,
					  std::numeric_limits<std::uint32_t>::max()));
		if (comma == std::string_view::npos)
			break;
		rest.remove_prefix(comma + 1);
	}
	if (held.ids.size() != held.streams)
		malformed("ids that are no match for the streams");
	return held;
}

std::string held_text(const Held &held)
{
	return fmt::format("held={} {} {} {} {}\n", held.name,
			   held.group ? std::to_string(*held.group) : std::string(none),
			   held.dev.empty() ? none : std::string_view(held.dev), held.streams,
			   held.ids.empty() ? std::string(none)
					    : fmt::format("{}", fmt::join(held.ids, ",")));
}

} // namespace

bool is_name(std::string_view text) noexcept
{
	const auto good = [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		       c == '.' || c == '_' || c == '-';
	};

	return !text.empty() && text.size() <= max_name && text[0] != '.' && text[0] != '-' &&
	       std::ranges::all_of(text, good);
}

std::string encode(const Request &request)
{
	const auto *verb = std::ranges::find(verbs, request.verb, &VerbName::verb);
	std::string text = fmt::format("{}\n{}\n", greeting, verb->name);

	if (request.verb == Verb::list)
		return text;
	text += fmt::format("name={}\n", request.name);
	if (request.verb != Verb::hold)
		return text;
	text += fmt::format("streams={}\n", request.streams);
	if (request.group)
		text += fmt::format("group={}\n", *request.group);
	if (request.keep)
		text += "keep=1\n";
	return text;
}

Request parse_request(std::string_view text)
{
	std::map<std::string_view, std::string_view> fields;
	Request request;

	check_greeting(text);
	const std::string_view word = next_line(text);
	const auto *verb = std::ranges::find(verbs, word, &VerbName::name);
	if (verb == verbs.end())
		malformed("an unknown request");
	request.verb = verb->verb;
	while (!text.empty()) {
		const Field field = next_field(text);

		if (!fields.emplace(field.key, field.value).second)
			malformed("a key that is there twice");
	}
	if (request.verb == Verb::list) {
		require_keys(fields, {}, false);
		return request;
	}
	if (request.verb == Verb::hold)
		require_keys(fields, {"name", "streams", "group", "keep"}, true);
	else
		require_keys(fields, {"name"}, true);
	request.name = name_from(fields.at("name"));
	if (request.verb != Verb::hold)
		return request;
	if (!fields.contains("streams"))
		malformed("no number of streams");
	request.streams = number(fields.at("streams"), 1, max_streams);
	if (fields.contains("group"))
		request.group =
			number(fields.at("group"), 0, std::numeric_limits<std::uint32_t>::max());
	if (fields.contains("keep")) {
		if (fields.at("keep") != "1")
			malformed("keep is 1 or absent");
		request.keep = true;
	}
	return request;
}

std::string encode(const Reply &reply)
{
	std::string text = fmt::format("{}\n{}\n", greeting, reply.error ? "error" : "ok");

	if (reply.error)
		return text + fmt::format("errno={}\npath={}\ncall={}\nwhy={}\nadvice={}\n",
					  reply.error->code(), flat(reply.error->path()),
					  flat(reply.error->call()), flat(reply.error->reason()),
					  flat(reply.error->advice()));
	for (const Held &held : reply.held)
		text += held_text(held);
	return text;
}

Reply parse_reply(std::string_view text)
{
	Reply reply;

	check_greeting(text);
	const std::string_view word = next_line(text);
	if (word == "ok") {
		while (!text.empty()) {
			const Field field = next_field(text);

			if (field.key != "held")
				malformed("an unknown key");
			reply.held.push_back(parse_held(field.value));
		}
		return reply;
	}
	if (word != "error")
		malformed("neither ok nor error");
	std::array<std::string, 5> values;
	constexpr std::array<std::string_view, 5> keys{"errno", "path", "call", "why", "advice"};
	for (std::size_t i = 0; i < keys.size(); i++) {
		const Field field = next_field(text);

		if (field.key != keys.at(i))
			malformed("an error that is not whole");
		values.at(i) = field.value;
	}
	if (!text.empty())
		malformed("something behind its end");
	const auto &[code, path, call, why, advice] = values;
	const std::uint32_t value = number(code, 0, max_errno);
	if (value != 0)
		reply.error = ws::Error(path, call, static_cast<int>(value), advice);
	else
		reply.error = ws::Error(path, why, advice);
	return reply;
}

} // namespace hold
