// SPDX-License-Identifier: GPL-2.0
#include <ws/environment.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include <ws/error.h>

namespace
{

class Environment : public testing::Test
{
protected:
	static void give(const char *value) { setenv(ws::env_stream_fds, value, 1); }
	void TearDown() override { unsetenv(ws::env_stream_fds); }
};

TEST_F(Environment, HasADescriptorForEachSlot)
{
	give("5,6,17");
	EXPECT_EQ(ws::inherited_stream(0), 5);
	EXPECT_EQ(ws::inherited_stream(2), 17);
	EXPECT_THROW(ws::inherited_stream(3), ws::Error);
}

TEST_F(Environment, IsAbsentOutsideOfRun)
{
	unsetenv(ws::env_stream_fds);
	EXPECT_THROW(ws::inherited_stream(0), ws::Error);
}

TEST_F(Environment, MayBeSpoilt)
{
	for (const char *value : {"", "x", "5,", "-1", "99999999999", "5;6"}) {
		give(value);
		EXPECT_THROW(ws::inherited_stream(value[0] == '5' && value[1] == ',' ? 1 : 0),
			     ws::Error)
			<< value;
	}
}

TEST_F(Environment, JoinsNumbers)
{
	EXPECT_EQ(ws::join_numbers({5, 6, 17}), "5,6,17");
	EXPECT_EQ(ws::join_numbers({5}), "5");
}

} // namespace
