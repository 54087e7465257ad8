// SPDX-License-Identifier: GPL-2.0
#include "complete.h"

#include <algorithm>
#include <string_view>

namespace wsctl
{

namespace
{

using Arguments = std::vector<std::string>;

// Where the words before the last lead.
struct Place {
	CLI::App *app;
	std::size_t positionals = 0;	       // of its own, before the last word
	const CLI::Option *value_of = nullptr; // the option whose value comes next
	bool behind_dashes = false;
	std::size_t dashes = 0; // where they were
};

// Options of the command, and of those above that it takes as well.
const CLI::Option *find_option(const CLI::App *app, const std::string &name)
{
	for (; app; app = app->get_parent()) {
		for (const CLI::Option *option : app->get_options()) {
			if (!option->get_positional() && option->check_name(name))
				return option;
		}
	}
	return nullptr;
}

bool takes_value(const CLI::Option *option)
{
	return option && option->get_items_expected_max() > 0;
}

Place find_place(CLI::App &app, const Arguments &words)
{
	Place place{.app = &app};

	for (std::size_t i = 0; i + 1 < words.size(); i++) {
		const std::string &word = words[i];

		if (place.value_of) {
			place.value_of = nullptr;
			continue;
		}
		if (word == "--") {
			place.behind_dashes = true;
			place.dashes = i;
			break;
		}
		if (word.starts_with('-')) {
			const CLI::Option *option = find_option(place.app, word);

			if (takes_value(option))
				place.value_of = option;
			continue;
		}
		const auto subs = place.app->get_subcommands(
			[&](const CLI::App *candidate) { return candidate->get_name() == word; });
		if (!subs.empty())
			place.app = subs.front();
		else
			place.positionals++;
	}
	return place;
}

// "a description\nof several lines" on one line.
std::string one_line(std::string text)
{
	std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
	return text;
}

void write_word(std::ostream &out, const std::string &word, const std::string &description)
{
	out << word;
	if (!description.empty())
		out << '\t' << one_line(description);
	out << '\n';
}

// What CLI::IsMember says of itself: "{auto,always,never}".
Arguments members_of(const CLI::Option *option)
{
	std::string text = option->get_type_name();
	const auto open = text.find('{');
	const auto close = text.find('}', open);
	Arguments members;

	if (open == std::string::npos || close == std::string::npos)
		return members;
	text = text.substr(open + 1, close - open - 1);
	for (std::size_t begin = 0; begin <= text.size();) {
		const std::size_t end = std::min(text.find(',', begin), text.size());

		members.push_back(text.substr(begin, end - begin));
		begin = end + 1;
	}
	return members;
}

bool is_files(std::string_view name)
{
	return name.starts_with("FILE") || name.starts_with("PATH") || name.starts_with("DIR");
}

void write_values(std::ostream &out, const CLI::Option *option, const std::string &prefix,
		  const std::string &begun)
{
	const bool files = is_files(option->get_type_name()) ||
			   (option->get_positional() && is_files(option->get_name(true)));

	out << (files ? "files\n" : "none\n");
	for (const std::string &member : members_of(option)) {
		if (member.starts_with(begun))
			write_word(out, prefix + member, "");
	}
}

void write_options(std::ostream &out, const CLI::App *command, const std::string &begun)
{
	out << "none\n";
	for (const CLI::App *app = command; app; app = app->get_parent()) {
		for (const CLI::Option *option : app->get_options()) {
			for (const std::string &name : option->get_lnames()) {
				const std::string word = "--" + name;
				// Those of the top are about the top.
				const bool other =
					app != command && (name == "help" || name == "version");

				if (word.starts_with(begun) && !other)
					write_word(out, word, option->get_description());
			}
		}
	}
}

// The positional that the word behind @before others is; null where there is none.
const CLI::Option *positional(const CLI::App *app, std::size_t before)
{
	const CLI::Option *last = nullptr;

	for (const CLI::Option *option : app->get_options()) {
		if (!option->get_positional())
			continue;
		last = option;
		if (before < static_cast<std::size_t>(option->get_items_expected_max()))
			return option;
		before -= static_cast<std::size_t>(option->get_items_expected_max());
	}
	return last && last->get_items_expected_max() > 1 ? last : nullptr;
}

} // namespace

void write_completions(std::ostream &out, CLI::App &app, const Arguments &words)
{
	const std::string begun = words.empty() ? "" : words.back();
	const Place place = find_place(app, words);

	if (place.behind_dashes) {
		// Of those with a command behind it, "run" is the only one.
		if (place.app->get_name() == "run" && place.app->get_parent() == &app)
			out << "command " << place.dashes + 1 << '\n';
		else
			out << "files\n";
		return;
	}
	if (place.value_of)
		return write_values(out, place.value_of, "", begun);
	if (const auto equals = begun.find('='); begun.starts_with("--") && equals != begun.npos) {
		const CLI::Option *option = find_option(place.app, begun.substr(0, equals));

		if (takes_value(option))
			return write_values(out, option, begun.substr(0, equals + 1),
					    begun.substr(equals + 1));
	}
	if (begun.starts_with('-'))
		return write_options(out, place.app, begun);
	const auto subs = place.app->get_subcommands([](const CLI::App * /*sub*/) { return true; });
	if (!subs.empty()) {
		out << "none\n";
		for (const CLI::App *sub : subs) {
			if (sub->get_name().starts_with(begun))
				write_word(out, sub->get_name(), sub->get_description());
		}
		return;
	}
	if (const CLI::Option *option = positional(place.app, place.positionals))
		return write_values(out, option, "", begun);
	out << "none\n";
}

} // namespace wsctl
