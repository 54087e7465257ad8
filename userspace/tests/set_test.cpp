// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <ws/environment.h>
#include <ws/unique_fd.h>

#include "golden.h"

namespace
{

class Set : public testing::Test
{
protected:
	void SetUp() override
	{
		fake_.add("a", {.extents = {}, .stream = 1, .home_ag = 5});
		fake_.add("b\n\xff",
			  {.extents = {}, .stream = 1, .home_ag = 6, .flags = WSFS_FILE_MISSED});
		setenv(ws::env_stream_fds, ("77," + fd()).c_str(), 1);
	}
	void TearDown() override { unsetenv(ws::env_stream_fds); }

	[[nodiscard]] std::string fd() const { return std::to_string(stream_.get()); }

	FakeHost fake_;
	ws::UniqueFd stream_{open("/dev/null", O_RDONLY | O_CLOEXEC)};
};

TEST_F(Set, TakesASlot)
{
	const auto ran = run_wsctl(fake_, {"set", "--stream", "1", "a"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "");
	ASSERT_EQ(fake_.kernel.sets.size(), 1U);
	EXPECT_EQ(fake_.kernel.sets[0].stream_fd, stream_.get());
	EXPECT_EQ(fake_.kernel.sets[0].flags, 0U);
}

TEST_F(Set, TakesADescriptor)
{
	const auto ran = run_wsctl(fake_, {"set", "-v", "--fd", fd(), "a", "--", "b\n\xff"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(fake_.kernel.sets.size(), 2U);
	expect_golden("set.txt", ran.out);
}

TEST_F(Set, ReportsInJson)
{
	const auto ran =
		run_wsctl(fake_, {"set", "--json", "--fd", fd(), "a", "b\n\xff", "missing"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("set.json", ran.out);
}

TEST_F(Set, GoesOnAfterAnError)
{
	ASSERT_EQ(mkfifo("pipe", 0600), 0);
	const auto ran = run_wsctl(fake_, {"set", "--fd", fd(), "missing", "pipe", "a"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_EQ(fake_.kernel.sets.size(), 1U);
	expect_golden("set-errors.txt", ran.err);
}

TEST_F(Set, TakesDirectories)
{
	ASSERT_EQ(mkdir("d", 0700), 0);
	fake_.add("d", {.extents = {}, .stream = 1, .dir_how = WSFS_DIR_STREAM});
	const auto ran = run_wsctl(fake_, {"set", "-v", "--fd", fd(), "d"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "d: files made in it are born in stream 1\n");
	EXPECT_TRUE(fake_.kernel.sets.empty());
	ASSERT_EQ(fake_.kernel.dir_places.size(), 1U);
	EXPECT_EQ(fake_.kernel.dir_places[0].how, WSFS_DIR_STREAM);
	EXPECT_EQ(fake_.kernel.dir_places[0].stream_fd, stream_.get());

	EXPECT_EQ(run_wsctl(fake_, {"clear", "d"}).status, 0);
	ASSERT_EQ(fake_.kernel.dir_places.size(), 2U);
	EXPECT_EQ(fake_.kernel.dir_places[1].how, WSFS_DIR_DEFAULT);
	EXPECT_EQ(fake_.kernel.dir_places[1].stream_fd, -1);
	expect_golden("set-directory.json",
		      run_wsctl(fake_, {"set", "--json", "--fd", fd(), "d"}).out);
}

TEST_F(Set, DoesNotOpenFifos)
{
	ASSERT_EQ(mkfifo("fifo", 0600), 0);
	EXPECT_EQ(run_wsctl(fake_, {"set", "--fd", fd(), "fifo"}).status, 1);
}

TEST_F(Set, SaysWhatTheKernelSaid)
{
	for (const int code : {EINVAL, EXDEV, EPERM, EBUSY, ENOTTY}) {
		fake_.kernel.failures[FS_IOC_WRITE_STREAM_SET] = code;
		const auto ran = run_wsctl(fake_, {"set", "--fd", fd(), "a"});
		EXPECT_EQ(ran.status, 1);
		EXPECT_NE(ran.err.find("wsctl set: a: FS_IOC_WRITE_STREAM_SET: "),
			  std::string::npos);
		EXPECT_NE(ran.err.find("hint: "), std::string::npos);
	}
}

TEST_F(Set, NeedsAnOpenStream)
{
	// Slot 0 is a descriptor that is not open.
	const auto ran = run_wsctl(fake_, {"set", "--stream", "0", "a"});

	EXPECT_EQ(ran.status, 1);
	EXPECT_TRUE(fake_.kernel.sets.empty());
	expect_golden("set-closed.txt", ran.err);
}

TEST_F(Set, NeedsASlotThatThereIs)
{
	EXPECT_EQ(run_wsctl(fake_, {"set", "--stream", "2", "a"}).status, 1);
	unsetenv(ws::env_stream_fds);
	const auto ran = run_wsctl(fake_, {"set", "--stream", "0", "a"});
	EXPECT_EQ(ran.status, 1);
	expect_golden("set-outside.txt", ran.err);
}

TEST_F(Set, NeedsOneStream)
{
	EXPECT_EQ(run_wsctl(fake_, {"set", "a"}).status, 2);
	EXPECT_EQ(run_wsctl(fake_, {"set", "--stream", "1", "--fd", fd(), "a"}).status, 2);
	EXPECT_EQ(run_wsctl(fake_, {"set", "--stream", "-1", "a"}).status, 2);
	EXPECT_EQ(run_wsctl(fake_, {"set", "--fd", "-1", "a"}).status, 2);
	EXPECT_EQ(run_wsctl(fake_, {"set", "--fd", fd()}).status, 2);
	EXPECT_TRUE(fake_.kernel.sets.empty());
}

TEST_F(Set, CanBeCleared)
{
	const auto ran = run_wsctl(fake_, {"clear", "a"});

	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "");
	ASSERT_EQ(fake_.kernel.sets.size(), 1U);
	EXPECT_EQ(fake_.kernel.sets[0].stream_fd, -1);
	EXPECT_EQ(fake_.kernel.sets[0].flags, FS_WRITE_STREAM_SET_CLEAR);
}

TEST_F(Set, ReportsAClearInJson)
{
	const auto ran = run_wsctl(fake_, {"clear", "--json", "a", "missing"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("clear.json", ran.out);
}

} // namespace
