// SPDX-License-Identifier: GPL-2.0
#include "json_writer.h"

#include <sstream>

#include <gtest/gtest.h>

namespace
{

using wsctl::Json;

TEST(JsonWriter, WritesWhatDumpWouldWrite)
{
	std::ostringstream out;
	wsctl::JsonWriter json(out);
	const Json inner = {{"a", 1}, {"b", {1, 2, {{"c", nullptr}}}}, {"text", "line\nend"}};
	Json whole = Json::object();

	whole["first"] = "x";
	whole["list"] = Json::array({inner, 5, Json::array()});
	whole["none"] = Json::array();
	whole["object"] = {{"key", inner}};

	json.begin_object();
	json.member("first", "x");
	json.begin_array("list");
	json.element(inner);
	json.element(5);
	json.element(Json::array());
	json.end();
	json.begin_array("none");
	json.end();
	json.begin_object("object");
	json.members({{"key", inner}});
	json.end();
	json.end();
	EXPECT_EQ(out.str(), whole.dump(2) + "\n");
}

TEST(JsonWriter, ReplacesWhatIsNotUtf8)
{
	std::ostringstream out;
	wsctl::JsonWriter json(out);

	json.begin_object();
	json.member("x", "a\xff");
	json.end();
	EXPECT_EQ(out.str(), "{\n  \"x\": \"a\xef\xbf\xbd\"\n}\n");
}

} // namespace
