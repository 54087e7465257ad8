// SPDX-License-Identifier: GPL-2.0
#include "name_list.h"

#include <climits>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ws/error.h>

namespace
{

using testing::ElementsAre;

std::vector<std::string> names(const std::string &text, bool null)
{
	std::istringstream in(text);
	wsctl::NameList list(in, "list", null);
	std::vector<std::string> found;

	while (auto name = list.next())
		found.push_back(std::move(*name));
	return found;
}

TEST(NameList, SplitsAtNewlines)
{
	EXPECT_THAT(names("a\nb c\n\n  d\n", false), ElementsAre("a", "b c", "  d"));
	EXPECT_THAT(names("a\nlast", false), ElementsAre("a", "last"));
	EXPECT_THAT(names("", false), ElementsAre());
	EXPECT_THAT(names("\n\n", false), ElementsAre());
}

TEST(NameList, SplitsAtNulBytes)
{
	using namespace std::string_literals;

	EXPECT_THAT(names("a\nb\0c\xff\0\0d"s, true), ElementsAre("a\nb", "c\xff", "d"));
}

TEST(NameList, FindsOutThatNulBytesAreMeant)
{
	using namespace std::string_literals;

	EXPECT_THROW(names("a\0b\0"s, false), ws::Error);
}

TEST(NameList, TakesNoEndlessName)
{
	EXPECT_EQ(names(std::string(PATH_MAX, 'x'), false).size(), 1U);
	EXPECT_THROW(names(std::string(PATH_MAX + 1, 'x'), false), ws::Error);
	EXPECT_THROW(names(std::string(1U << 20U, 'x'), true), ws::Error);
}

} // namespace
