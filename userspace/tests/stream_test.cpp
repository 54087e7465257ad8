// SPDX-License-Identifier: GPL-2.0
#include <ws/stream.h>

#include <cerrno>
#include <initializer_list>

#include <fcntl.h>

#include <gtest/gtest.h>

#include <ws/error.h>
#include <ws/filesystem.h>

#include "fake_host.h"

namespace
{

TEST(StreamFdInfo, IsReadAmongOtherLines)
{
	const auto info =
		ws::parse_stream_fdinfo("pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t7\n"
					"stream:\t2\nag_set:\t8-11\nfiles:\t3\n"
					"bytes:\t1310720\n");

	ASSERT_TRUE(info);
	EXPECT_EQ(info->id, 2U);
	EXPECT_EQ(info->ag_set.str(), "8-11");
	EXPECT_EQ(info->files, 3U);
	EXPECT_EQ(info->bytes, 1310720U);
}

TEST(StreamFdInfo, IsNothingForOtherFiles)
{
	for (const char *text : {"", "pos:\t0\nflags:\t02\n", "stream:\tx\nag_set:\t1\n",
				 "stream:\t1\n", "stream:\t1\nag_set:\tx\n",
				 "streams:\t1\nag_set:\t1\n", "x stream:\t1\nag_set:\t1\n"})
		EXPECT_FALSE(ws::parse_stream_fdinfo(text)) << text;
}

TEST(Stream, IsOpenWhileItLives)
{
	FakeHost fake;
	const ws::UniqueFd dir = ws::open_for_info(".");
	int fd = -1;

	{
		const auto stream = ws::Stream::reserve(fake.host(), dir.get(), ".");

		fd = stream.fd();
		EXPECT_GE(fd, 3);
		EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
		EXPECT_EQ(stream.info(fake.host())->id, 3U);
	}
	EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST(Stream, IsClosedOnceWhenMoved)
{
	FakeHost fake;
	const ws::UniqueFd dir = ws::open_for_info(".");
	auto stream = ws::Stream::reserve(fake.host(), dir.get(), ".");
	const int fd = stream.fd();
	const auto moved = std::move(stream);

	EXPECT_EQ(moved.fd(), fd);
	EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

TEST(Stream, TellsWhyThereIsNone)
{
	for (const int code : {EPERM, ENOSPC, EMFILE, EOPNOTSUPP, ENOTTY}) {
		FakeHost fake;

		fake.kernel.failures[FS_IOC_WRITE_STREAM_ALLOC] = code;
		try {
			const ws::UniqueFd dir = ws::open_for_info(".");
			ws::Stream::reserve(fake.host(), dir.get(), "/mnt/ws");
			ADD_FAILURE() << code;
		} catch (const ws::Error &error) {
			EXPECT_EQ(error.path(), "/mnt/ws");
			EXPECT_EQ(error.call(), "FS_IOC_WRITE_STREAM_ALLOC");
			EXPECT_EQ(error.code(), code);
			EXPECT_NE(error.advice(), "");
		}
	}
}

} // namespace
