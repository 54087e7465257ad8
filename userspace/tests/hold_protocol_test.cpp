// SPDX-License-Identifier: GPL-2.0
#include <hold/protocol.h>

#include <cerrno>

#include <gtest/gtest.h>

namespace
{

using hold::Request;
using hold::Verb;

TEST(HoldName, IsShortAndPlain)
{
	for (const char *good :
	     {"a", "db", "Cache_1", "a.b-c", "0", "a2345678901234567890123456789012"})
		EXPECT_TRUE(hold::is_name(good)) << good;
	for (const char *bad : {"", ".a", "-a", "a b", "a/b", "a\n", "ä", "a:1", "a=b",
				"a23456789012345678901234567890123"})
		EXPECT_FALSE(hold::is_name(bad)) << bad;
}

TEST(HoldRequest, ComesBackAsItWas)
{
	const Request requests[] = {
		{.verb = Verb::list},
		{.verb = Verb::take, .name = "db"},
		{.verb = Verb::release, .name = "db"},
		{.verb = Verb::hold, .name = "db", .streams = 3},
		{.verb = Verb::hold,
		 .name = "db",
		 .streams = 64,
		 .group = 4294967295U,
		 .keep = true},
	};

	for (const Request &request : requests)
		EXPECT_EQ(hold::parse_request(hold::encode(request)), request);
}

TEST(HoldRequest, IsReadStrictly)
{
	const char *bad[] = {
		"",
		"wsfs-hold 1",
		"wsfs-hold 1\n",
		"wsfs-hold 2\nlist\n",
		"wsfs-hold 1\nlist",
		"wsfs-hold 1\nfetch\nname=a\n",
		"wsfs-hold 1\nlist\nname=a\n",
		"wsfs-hold 1\ntake\n",
		"wsfs-hold 1\ntake\nname=\n",
		"wsfs-hold 1\ntake\nname=../a\n",
		"wsfs-hold 1\ntake\nname=a\nname=a\n",
		"wsfs-hold 1\ntake\nname=a\nstreams=1\n",
		"wsfs-hold 1\ntake\nname\n",
		"wsfs-hold 1\nhold\nname=a\n",
		"wsfs-hold 1\nhold\nname=a\nstreams=0\n",
		"wsfs-hold 1\nhold\nname=a\nstreams=65\n",
		"wsfs-hold 1\nhold\nname=a\nstreams=-1\n",
		"wsfs-hold 1\nhold\nname=a\nstreams=1\ngroup=4294967296\n",
		"wsfs-hold 1\nhold\nname=a\nstreams=1\ngroup=wheel\n",
		"wsfs-hold 1\nhold\nname=a\nstreams=1\nkeep=0\n",
	};

	for (const char *text : bad)
		EXPECT_THROW(hold::parse_request(text), ws::Error) << text;
	EXPECT_THROW(hold::parse_request(std::string_view("wsfs-hold 1\nlist\0\n", 18)), ws::Error);
}

TEST(HoldReply, ComesBackAsItWas)
{
	hold::Reply reply;

	reply.held.push_back(
		{.name = "db", .group = 7, .dev = "nvme0n1p1", .ids = {2, 5}, .streams = 2});
	reply.held.push_back(
		{.name = "x", .group = std::nullopt, .dev = "", .ids = {}, .streams = 1});
	const auto back = hold::parse_reply(hold::encode(reply));
	EXPECT_EQ(back.held, reply.held);
	EXPECT_FALSE(back.error);
}

TEST(HoldReply, CarriesErrors)
{
	hold::Reply reply;

	reply.error = ws::Error("db", "wsfs-holdd", EEXIST, "release\nit");
	auto back = hold::parse_reply(hold::encode(reply));
	ASSERT_TRUE(back.error);
	EXPECT_EQ(back.error->path(), "db");
	EXPECT_EQ(back.error->call(), "wsfs-holdd");
	EXPECT_EQ(back.error->code(), EEXIST);
	EXPECT_EQ(back.error->advice(), "release it");
	reply.error = ws::Error("db", "is odd", "do something");
	back = hold::parse_reply(hold::encode(reply));
	ASSERT_TRUE(back.error);
	EXPECT_EQ(back.error->reason(), "is odd");
	EXPECT_EQ(back.error->code(), 0);
}

TEST(HoldReply, IsReadStrictly)
{
	const char *bad[] = {
		"wsfs-hold 1\nok\nheld=a - - 0 -\n",
		"wsfs-hold 1\nok\nheld=a - - 2 1\n",
		"wsfs-hold 1\nok\nheld=a - - 1 1,\n",
		"wsfs-hold 1\nok\nheld=a -  1 1\n",
		"wsfs-hold 1\nok\nheld=a\n",
		"wsfs-hold 1\nok\nmore=a\n",
		"wsfs-hold 1\nmaybe\n",
		"wsfs-hold 1\nerror\nerrno=1\n",
		"wsfs-hold 1\nerror\nerrno=x\npath=\ncall=\nwhy=\nadvice=\n",
	};

	for (const char *text : bad)
		EXPECT_THROW(hold::parse_reply(text), ws::Error) << text;
}

} // namespace
