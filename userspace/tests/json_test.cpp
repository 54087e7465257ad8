// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include <cerrno>
#include <sstream>

#include <gtest/gtest.h>

namespace
{

std::string dump(const wsctl::Json &json)
{
	std::ostringstream out;

	wsctl::write_json(out, json);
	return out.str();
}

TEST(JsonName, IsTheNameWhereItIsText)
{
	wsctl::Json object = wsctl::Json::object();

	wsctl::json_name(object, "path", "a\nb\"c");
	EXPECT_EQ(dump(object), "{\n  \"path\": \"a\\nb\\\"c\"\n}\n");
}

TEST(JsonName, AddsTheBytesWhereItIsNot)
{
	wsctl::Json object = wsctl::Json::object();

	wsctl::json_name(object, "path", "a\xff");
	const auto parsed = nlohmann::json::parse(dump(object));
	EXPECT_EQ(parsed["path"], "a\xef\xbf\xbd");
	EXPECT_EQ(parsed["path_bytes"], "61ff");
}

TEST(JsonError, HasEveryPart)
{
	const auto json = wsctl::json_error(ws::Error("p", "open", ENOENT));

	EXPECT_EQ(json["path"], "p");
	EXPECT_EQ(json["call"], "open");
	EXPECT_EQ(json["errno"], ENOENT);
	EXPECT_EQ(json["name"], "ENOENT");
	EXPECT_EQ(json["message"], "open: No such file or directory (ENOENT)");
	EXPECT_EQ(json["advice"], "check the spelling");
}

TEST(JsonError, HasNullForWhatThereIsNot)
{
	const auto json = wsctl::json_error(ws::Error("p", "is odd", ""));

	EXPECT_TRUE(json["call"].is_null());
	EXPECT_TRUE(json["errno"].is_null());
	EXPECT_TRUE(json["name"].is_null());
}

} // namespace
