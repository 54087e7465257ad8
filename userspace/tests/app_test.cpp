// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "golden.h"

namespace
{

// What may stand behind these words, with what is said of it.
std::vector<std::pair<std::string, std::string>> offered(std::vector<std::string> words)
{
	FakeHost fake;
	std::vector<std::pair<std::string, std::string>> found;

	words.insert(words.begin(), "__complete");
	std::istringstream lines(run_wsctl(fake, words).out);
	std::string line;
	std::getline(lines, line);
	while (std::getline(lines, line)) {
		const auto tab = std::min(line.find('\t'), line.size());

		found.emplace_back(line.substr(0, tab), line.substr(tab));
	}
	return found;
}

// Each as words: {"info"}, {"fio", "gen"}.
std::vector<std::vector<std::string>> commands()
{
	std::vector<std::vector<std::string>> all;

	for (const auto &[command, about] : offered({""})) {
		bool family = false;

		// Values, of which nothing is said, make no family.
		for (const auto &[sub, sub_about] : offered({command, ""})) {
			if (sub_about.empty())
				continue;
			all.push_back({command, sub});
			family = true;
		}
		if (!family)
			all.push_back({command});
	}
	return all;
}

TEST(App, HasHelpWithExamplesForEveryCommand)
{
	constexpr std::size_t at_least = 16;
	FakeHost fake;

	EXPECT_GE(commands().size(), at_least);
	for (std::vector<std::string> words : commands()) {
		const std::string name = words.back();

		words.emplace_back("--help");
		const auto ran = run_wsctl(fake, words);
		EXPECT_EQ(ran.status, 0);
		EXPECT_EQ(ran.err, "");
		EXPECT_NE(ran.out.find("Example"), std::string::npos) << name;
		EXPECT_NE(ran.out.find("  wsctl " + words.front()), std::string::npos) << name;
		EXPECT_NE(ran.out.find("--json"), std::string::npos) << name;
		// And it is in the help of what is above.
		words.erase(words.end() - 2);
		EXPECT_NE(run_wsctl(fake, words).out.find("\n  " + name), std::string::npos);
	}
}

// Completion offers what --help tells of, and --help tells of what it offers.
TEST(App, OffersAllOptionsOfItsHelp)
{
	const std::regex option("--[a-z][-a-z]*");
	FakeHost fake;

	for (std::vector<std::string> words : commands()) {
		const std::string name = words.back();
		std::set<std::string> told;
		std::set<std::string> found;

		words.emplace_back("--");
		for (const auto &[word, about] : offered(words)) {
			found.insert(word);
			EXPECT_NE(about, "") << name << " " << word;
		}
		words.back() = "--help";
		std::istringstream lines(run_wsctl(fake, words).out);
		for (std::string line; std::getline(lines, line);) {
			std::smatch match;

			// "  -n,--streams UINT ..."; examples come last.
			if (line.starts_with("Example"))
				break;
			if (line.find_first_not_of(' ') != std::string::npos &&
			    line[line.find_first_not_of(' ')] == '-' &&
			    std::regex_search(line, match, option))
				told.insert(match[0]);
		}
		// That one is of all commands, and told of at the top.
		found.erase("--color");
		EXPECT_EQ(found, told) << name;
		EXPECT_GT(found.size(), 1U);
	}
}

TEST(App, TellsItsVersion)
{
	FakeHost fake;
	const auto ran = run_wsctl(fake, {"--version"});

	EXPECT_EQ(ran.status, 0);
	EXPECT_TRUE(ran.out.starts_with("wsctl ")) << ran.out;
}

TEST(App, SaysWhatIsWrongWithTheCommandLine)
{
	const struct {
		std::vector<std::string> arguments;
		const char *message;
	} cases[] = {
		{.arguments = {},
		 .message = "wsctl: A subcommand is required\nwsctl: hint: wsctl --help\n"},
		{.arguments = {"frobnicate"},
		 .message = "wsctl: there is no command 'frobnicate'\nwsctl: hint: wsctl --help\n"},
		{.arguments = {"bmap", "--nonsense", "f"},
		 .message = "wsctl bmap: The following argument was not expected: --nonsense\n"
			    "wsctl bmap: hint: wsctl bmap --help\n"},
		{.arguments = {"check"},
		 .message =
			 "wsctl check: FILE is required\nwsctl check: hint: wsctl check --help\n"},
		{.arguments = {"--color", "green", "info"},
		 .message = "wsctl info: --color: green not in {auto,always,never}\n"
			    "wsctl info: hint: wsctl info --help\n"},
	};

	for (const auto &[arguments, message] : cases) {
		FakeHost fake;
		const auto ran = run_wsctl(fake, arguments);

		EXPECT_EQ(ran.status, 2);
		EXPECT_EQ(ran.out, "");
		EXPECT_EQ(ran.err, message);
	}
}

} // namespace
