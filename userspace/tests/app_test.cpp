// SPDX-License-Identifier: GPL-2.0
#include <initializer_list>

#include <gtest/gtest.h>

#include "golden.h"

namespace
{

TEST(App, HasHelpWithExamplesForEveryCommand)
{
	FakeHost fake;

	for (const char *command : {"info", "run", "set", "clear", "bmap", "check", "relocate"}) {
		const auto ran = run_wsctl(fake, {command, "--help"});

		EXPECT_EQ(ran.status, 0);
		EXPECT_EQ(ran.err, "");
		EXPECT_NE(ran.out.find("Example"), std::string::npos) << command;
		EXPECT_NE(ran.out.find("--json"), std::string::npos) << command;
		EXPECT_NE(run_wsctl(fake, {"--help"}).out.find(command), std::string::npos);
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
