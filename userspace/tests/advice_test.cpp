// SPDX-License-Identifier: GPL-2.0
#include <ws/error.h>

#include <cerrno>
#include <initializer_list>

#include <gtest/gtest.h>

namespace
{

TEST(Error, SaysWhatFailedWhereAndWhy)
{
	const ws::Error error("/mnt/a", "FS_IOC_WRITE_STREAM_SET", EXDEV);

	EXPECT_STREQ(error.what(),
		     "/mnt/a: FS_IOC_WRITE_STREAM_SET: Invalid cross-device link (EXDEV)");
	EXPECT_EQ(error.reason(), "FS_IOC_WRITE_STREAM_SET: Invalid cross-device link (EXDEV)");
	EXPECT_EQ(error.code(), EXDEV);
	EXPECT_NE(error.advice(), "");
}

TEST(Error, MayHaveNoErrno)
{
	const ws::Error error("f", "is odd", "make it even");

	EXPECT_STREQ(error.what(), "f: is odd");
	EXPECT_EQ(error.code(), 0);
	EXPECT_EQ(error.call(), "");
	EXPECT_EQ(error.advice(), "make it even");
}

TEST(Error, NamesErrnosThatLibcDoesNotKnow)
{
	EXPECT_EQ(ws::errno_name(ENOSPC), "ENOSPC");
	EXPECT_EQ(ws::errno_name(4000), "errno 4000");
	EXPECT_STREQ(ws::Error("p", "c", 4000).what(), "p: c: unknown error (errno 4000)");
}

TEST(Advice, CoversTheInterface)
{
	for (const int code : {EPERM, ENOSPC, EMFILE, EOPNOTSUPP, ENOTTY})
		EXPECT_NE(ws::advice_for("FS_IOC_WRITE_STREAM_ALLOC", code), "") << code;
	for (const int code : {EINVAL, EBADF, EXDEV, EPERM, EBUSY, ENOTTY})
		EXPECT_NE(ws::advice_for("FS_IOC_WRITE_STREAM_SET", code), "") << code;
}

TEST(Advice, DependsOnTheCall)
{
	EXPECT_NE(ws::advice_for("FS_IOC_WRITE_STREAM_SET", EPERM),
		  ws::advice_for("FS_IOC_WRITE_STREAM_ALLOC", EPERM));
	EXPECT_NE(ws::advice_for("open", ENOENT), "");
	EXPECT_EQ(ws::advice_for("open", EXDEV), "");
}

} // namespace
