// SPDX-License-Identifier: GPL-2.0
#include <ws.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <ws/environment.h>
#include <ws/unique_fd.h>

#include "fake_host.h"

namespace
{

// On the real kernel, where nothing has streams: what fails and how.
class CApi : public testing::Test
{
protected:
	void SetUp() override
	{
		FakeHost::write("f", "");
		file_ = ws::UniqueFd(open("f", O_RDWR | O_CLOEXEC));
		errno = 0;
	}

	FakeHost fake_;
	ws::UniqueFd file_;
};

TEST_F(CApi, SaysWhatFailed)
{
	EXPECT_EQ(ws_streams_available(file_.get()), -1);
	EXPECT_EQ(errno, ENOTTY);
	EXPECT_EQ(ws_last_errno(), ENOTTY);
	EXPECT_EQ(ws_last_error(), fake_.files.string() +
					   "/f: FS_IOC_WRITE_STREAM_GET_MAX: Inappropriate ioctl "
					   "for device (ENOTTY)");
	EXPECT_NE(std::string(ws_last_advice()).find("mount -t wsfs"), std::string::npos);
}

TEST_F(CApi, FailsWhereThereAreNoStreams)
{
	char text[8] = "before";
	ws_file_info info{};

	EXPECT_EQ(ws_stream_reserve(file_.get()), -1);
	EXPECT_EQ(errno, ENOTTY);
	EXPECT_EQ(ws_stream_set(file_.get(), file_.get()), -1);
	EXPECT_EQ(errno, ENOTTY);
	EXPECT_EQ(ws_stream_clear(file_.get()), -1);
	EXPECT_EQ(errno, ENOTTY);
	EXPECT_EQ(ws_file_get_info(file_.get(), &info, sizeof(info)), -1);
	EXPECT_EQ(errno, ENOTTY);
	EXPECT_EQ(ws_stream_ag_set(file_.get(), text, sizeof(text)), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_STREQ(text, "before");
}

TEST_F(CApi, SaysWhichDescriptorIsNotOpen)
{
	ws_stream_info info{};

	EXPECT_EQ(ws_streams_available(777), -1);
	EXPECT_EQ(errno, EBADF);
	EXPECT_EQ(std::string(ws_last_error()).find("descriptor 777: "), 0U);
	EXPECT_EQ(ws_stream_get_info(777, &info, sizeof(info)), -1);
	EXPECT_EQ(errno, EBADF);
	EXPECT_EQ(ws_stream_release(777), -1);
	EXPECT_EQ(errno, EBADF);
}

TEST_F(CApi, ReleasesByClosing)
{
	const int fd = dup(file_.get());

	EXPECT_EQ(ws_stream_release(fd), 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST_F(CApi, FindsInheritedStreams)
{
	setenv(ws::env_stream_fds, "5,6", 1);
	EXPECT_EQ(ws_stream_inherited(1), 6);
	EXPECT_EQ(ws_stream_inherited(2), -1);
	EXPECT_EQ(errno, EINVAL);
	unsetenv(ws::env_stream_fds);
	EXPECT_EQ(ws_stream_inherited(0), -1);
	EXPECT_NE(std::string(ws_last_advice()).find("wsctl run"), std::string::npos);
}

TEST_F(CApi, KeepsTheErrorsOfThreadsApart)
{
	EXPECT_EQ(ws_streams_available(777), -1);
	std::thread([] {
		EXPECT_STREQ(ws_last_error(), "");
		EXPECT_EQ(ws_last_errno(), 0);
		EXPECT_EQ(ws_stream_inherited(0), -1);
	}).join();
	EXPECT_EQ(ws_last_errno(), EBADF);
}

TEST_F(CApi, CutsLongPathsShort)
{
	const std::string part(200, 'x');
	std::filesystem::path name = part;

	// Not longer than PATH_MAX, but so long that words come behind it.
	for (int i = 0; i < 17; i++)
		name /= part;
	std::filesystem::create_directories(name);
	const ws::UniqueFd dir(open(name.c_str(), O_RDONLY | O_CLOEXEC));
	ASSERT_TRUE(dir);
	EXPECT_EQ(ws_streams_available(dir.get()), -1);
	EXPECT_NE(std::string(ws_last_error()).find("ENOTTY"), std::string::npos);
}

TEST_F(CApi, HasAVersion)
{
	EXPECT_STREQ(ws_version(), "0.1.0");
}

} // namespace
