// SPDX-License-Identifier: GPL-2.0
#include "operands.h"

#include <cerrno>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hold/systemd.h>

#include "changes.h"
#include "golden.h"

namespace
{

using testing::ElementsAre;

class Operands : public testing::Test
{
protected:
	void SetUp() override
	{
		for (const char *name : {"a", "d/1", "d/2"})
			FakeHost::write(name, "");
	}
	static wsctl::FileOperands tree(const std::vector<std::string> &names)
	{
		wsctl::FileOperands operands;

		operands.recursive = true;
		operands.files = names;
		return operands;
	}
	static std::vector<wsctl::NamedFile> files(const wsctl::FileOperands &operands)
	{
		std::vector<wsctl::NamedFile> found;

		wsctl::each_file(
			operands, [&](const wsctl::NamedFile &file) { found.push_back(file); },
			[](int fd) { ADD_FAILURE() << fd; },
			[](const ws::Error &error) { ADD_FAILURE() << error.what(); });
		return found;
	}

	FakeHost fake_;
};

TEST_F(Operands, TellWhatWasFoundAndHowMuchIsDone)
{
	const auto found = files(tree({"a", "d"}));

	ASSERT_EQ(found.size(), 3U);
	EXPECT_EQ(found[0].path, "a");
	EXPECT_FALSE(found[0].found);
	EXPECT_EQ(found[1].path, "d/1");
	EXPECT_TRUE(found[1].found);
	EXPECT_GE(found[1].fraction, 0.5);
	EXPECT_LE(found[1].fraction, found[2].fraction);
	EXPECT_LE(found[2].fraction, 1);
}

TEST_F(Operands, KnowNothingOfHowMuchAPatternMatches)
{
	wsctl::FileOperands operands;

	operands.files = {"a"};
	operands.globs = {"d/*"};
	for (const auto &file : files(operands)) {
		EXPECT_FALSE(file.found);
		EXPECT_EQ(file.fraction, 0);
	}
}

// A change to files that somebody removes just then.
TEST_F(Operands, PassOverWhatVanishesFromATree)
{
	std::ostringstream out;
	std::ostringstream err;
	const wsctl::Context context{
		.host = fake_.host(), .out = out, .err = err, .command = "set"};
	const auto vanishes = [](int /*fd*/, const std::string &path, wsctl::Json & /*entry*/) {
		throw ws::Error(path, "open", ENOENT);
	};
	const auto change = [&](const wsctl::FileOperands &operands) {
		return wsctl::Changes(context, false, false, vanishes).run(operands);
	};

	EXPECT_EQ(change(tree({"d"})), 0);
	EXPECT_EQ(err.str(), "");
	EXPECT_EQ(change(tree({"a"})), 1);
	EXPECT_NE(err.str().find("ENOENT"), std::string::npos);
}

TEST(FileStreamOperand, EndsWithTheLastEqualsSign)
{
	const auto operand = wsctl::parse_file_stream("a=b=3");

	EXPECT_EQ(operand.path, "a=b");
	EXPECT_EQ(operand.id, 3U);
	for (const char *text : {"", "=", "a", "a=", "=2", "a=-1", "a=4294967296"})
		EXPECT_THROW(wsctl::parse_file_stream(text), ws::Error) << text;
}

TEST(ListedNames, AreThoseOfThisProcess)
{
	EXPECT_THAT(hold::listed_names("7", "2", "a:b", 7), ElementsAre("a", "b"));
	EXPECT_THAT(hold::listed_names("7", "3", "a", 7), ElementsAre("a", "", ""));
	EXPECT_THAT(hold::listed_names("7", "1", "a:b", 7), ElementsAre("a"));
	EXPECT_THAT(hold::listed_names("7", "0", "a", 7), ElementsAre());
	for (const char *pid : {"8", "", "x", "-7"})
		EXPECT_THAT(hold::listed_names(pid, "1", "a", 7), ElementsAre()) << pid;
	for (const char *count : {"", "x", "-1", "65537"})
		EXPECT_THAT(hold::listed_names("7", count, "a", 7), ElementsAre()) << count;
}

} // namespace
