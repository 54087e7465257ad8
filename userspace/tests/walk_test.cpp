// SPDX-License-Identifier: GPL-2.0
#include "walk.h"

#include <filesystem>
#include <vector>

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_host.h"

namespace
{

using testing::ElementsAre;

struct Walked {
	std::vector<std::string> files;
	std::vector<std::string> failures;
};

Walked walk(const std::string &path)
{
	Walked walked;

	wsctl::walk_files(
		path,
		[&](const wsctl::FoundFile &file, double fraction) {
			EXPECT_GE(fraction, 0);
			EXPECT_LE(fraction, 1);
			walked.files.push_back(file.path);
		},
		[&](const ws::Error &error) { walked.failures.push_back(error.path()); });
	return walked;
}

TEST(WalkFiles, TakesAFileAsItIs)
{
	const FakeHost fake;

	fake.write("f", "");
	EXPECT_THAT(walk("f").files, ElementsAre("f"));
}

TEST(WalkFiles, FindsRegularFilesOnly)
{
	const FakeHost fake;

	fake.write("d/b/2", "");
	fake.write("d/b/1", "");
	fake.write("d/a", "");
	fake.write("d/c", "");
	std::filesystem::create_symlink("a", "d/link");
	std::filesystem::create_symlink("..", "d/b/loop");
	ASSERT_EQ(mkfifo("d/fifo", 0600), 0);
	EXPECT_THAT(walk("d").files, ElementsAre("d/a", "d/b/1", "d/b/2", "d/c"));
	EXPECT_THAT(walk("d/").files, ElementsAre("d/a", "d/b/1", "d/b/2", "d/c"));
}

TEST(WalkFiles, FollowsALinkThatItIsGiven)
{
	const FakeHost fake;

	fake.write("d/a", "");
	std::filesystem::create_directory_symlink("d", "link");
	EXPECT_THAT(walk("link").files, ElementsAre("link/a"));
}

TEST(WalkFiles, TellsWhatIsMissing)
{
	const FakeHost fake;
	const Walked walked = walk("nothing");

	EXPECT_THAT(walked.files, ElementsAre());
	EXPECT_THAT(walked.failures, ElementsAre("nothing"));
}

TEST(WalkFiles, PassesOverWhatVanishes)
{
	const FakeHost fake;
	std::vector<std::string> files;

	fake.write("d/1", "");
	fake.write("d/2", "");
	fake.write("d/3/x", "");
	wsctl::walk_files(
		"d",
		[&](const wsctl::FoundFile &file, double /*fraction*/) {
			files.push_back(file.path);
			std::filesystem::remove("d/2");
			std::filesystem::remove_all("d/3");
		},
		[](const ws::Error &error) { ADD_FAILURE() << error.what(); });
	EXPECT_THAT(files, ElementsAre("d/1"));
}

} // namespace
