// SPDX-License-Identifier: GPL-2.0
// get, and the ways of naming files that set and clear have as well.
#include <filesystem>

#include <fcntl.h>

#include <gtest/gtest.h>

#include <ws/unique_fd.h>

#include "golden.h"

namespace
{

class Get : public testing::Test
{
protected:
	void SetUp() override
	{
		fake_.add_streams({"0-3", "4-7"});
		fake_.add("a", {.extents = {}, .stream = 1, .home_ag = 5});
		fake_.add("b", {.extents = {}});
		fake_.add("d/c", {.extents = {}, .stream = 0, .home_ag = 2, .flags = 0});
		fake_.add("d/e/f", {.extents = {},
				    .stream = 0,
				    .home_ag = 3,
				    .flags = WSFS_FILE_HOMED | WSFS_FILE_MISSED});
		fake_.add("h",
			  {.extents = {}, .stream = 0, .home_ag = 1, .flags = WSFS_FILE_ANCHORED});
		fake_.add("odd\n\xff", {.extents = {}, .stream = 1, .home_ag = 4});
	}

	FakeHost fake_;
};

TEST_F(Get, ShowsStreams)
{
	const auto ran = run_wsctl(fake_, {"get", "a", "b", "d", "h", "odd\n\xff", "missing"});

	EXPECT_EQ(ran.status, 1);
	expect_golden("get.txt", ran.out + ran.err);
	EXPECT_EQ(run_wsctl(fake_, {"get", "--carrying", "a", "b"}).out,
		  "a: stream 1, home in AG 5\n");
}

TEST_F(Get, WritesJson)
{
	expect_golden("get.json", run_wsctl(fake_, {"get", "--json", "a", "b", "d", "h",
						    "odd\n\xff", "missing"})
					  .out);
}

TEST_F(Get, TakesADescriptor)
{
	const ws::UniqueFd fd(open("a", O_RDONLY | O_CLOEXEC));
	const std::string number = std::to_string(fd.get());

	EXPECT_EQ(run_wsctl(fake_, {"get", "--file-fd", number}).out,
		  "descriptor " + number + ": stream 1, home in AG 5\n");
}

class GetDirectory : public Get
{
protected:
	// The first line about a directory.
	std::string line(const FakeFile &directory, std::vector<std::string> arguments)
	{
		fake_.add("d", directory);
		arguments.insert(arguments.begin(), "get");
		arguments.emplace_back("d");
		const auto ran = run_wsctl(fake_, arguments);
		EXPECT_EQ(ran.status, 0) << ran.err;
		return ran.out.substr(0, ran.out.find('\n'));
	}

	static constexpr const char *by_mount = "d: files made in it are born as the mount says";
};

TEST_F(GetDirectory, SaysWhereFilesAreBorn)
{
	const std::vector<std::pair<FakeFile, std::string>> directories = {
		{{.extents = {}, .stream = 1, .dir_how = WSFS_DIR_STREAM},
		 "d: files made in it are born in stream 1"},
		{{.extents = {}, .dir_how = WSFS_DIR_STREAM},
		 "d: its stream is released; files made in it are born as the mount says"},
		{{.extents = {}, .dir_how = WSFS_DIR_NEAR}, "d: files made in it are born near it"},
		{{.extents = {}, .dir_how = WSFS_DIR_SPREAD},
		 "d: files made in it take turns over all AGs"},
		{{.extents = {}, .dir_how = WSFS_DIR_SPREAD_FREE},
		 "d: files made in it take turns over the AGs of no reserved stream"},
	};

	for (const auto &[directory, text] : directories) {
		EXPECT_EQ(line(directory, {}), text);
		EXPECT_EQ(line(directory, {"-d"}), text);
	}
	// Where nothing was said it is told only when asked.
	EXPECT_EQ(line({.extents = {}}, {}), "d/c: stream 0, not placed yet, wanted in AG 2");
	EXPECT_EQ(line({.extents = {}}, {"--directory"}), by_mount);
}

TEST_F(GetDirectory, SearchesItUnlessToldNotTo)
{
	fake_.add("d", {.extents = {}, .stream = 0, .dir_how = WSFS_DIR_STREAM});
	EXPECT_EQ(run_wsctl(fake_, {"get", "d"}).out,
		  "d: files made in it are born in stream 0\n"
		  "d/c: stream 0, not placed yet, wanted in AG 2\n"
		  "d/e/f: stream 0, home in AG 3, has data elsewhere\n");
	EXPECT_EQ(run_wsctl(fake_, {"get", "-d", "d", "d/e", "a"}).out,
		  "d: files made in it are born in stream 0\n"
		  "d/e: files made in it are born as the mount says\n"
		  "a: stream 1, home in AG 5\n");
	EXPECT_EQ(run_wsctl(fake_, {"get", "-cd", "d", "d/e"}).out,
		  "d: files made in it are born in stream 0\n");
}

TEST_F(GetDirectory, TakesADescriptor)
{
	fake_.add("d", {.extents = {}, .dir_how = WSFS_DIR_NEAR});
	const ws::UniqueFd fd(open("d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const std::string number = std::to_string(fd.get());

	EXPECT_EQ(run_wsctl(fake_, {"get", "--file-fd", number}).out,
		  "descriptor " + number + ": files made in it are born near it\n");
}

TEST_F(GetDirectory, WritesJson)
{
	fake_.add("d", {.extents = {}, .stream = 0, .dir_how = WSFS_DIR_STREAM});
	fake_.add("d/e", {.extents = {}, .dir_how = WSFS_DIR_SPREAD_FREE});
	expect_golden("get-directory.json",
		      run_wsctl(fake_, {"get", "--json", "-d", "d", "d/e", ".", "missing"}).out);
}

TEST_F(GetDirectory, FailsOncePerTree)
{
	fake_.kernel.type = FakeType::xfs;
	const auto ran = run_wsctl(fake_, {"get", "d"});
	EXPECT_EQ(ran.status, 1);
	EXPECT_EQ(ran.err.find("only wsfs tells"), ran.err.rfind("only wsfs tells"));
	EXPECT_NE(ran.err.find("only wsfs tells"), std::string::npos);
}

TEST_F(GetDirectory, SaysWhatItDoesNotKnow)
{
	fake_.add("d", {.extents = {}, .dir_how = 99});
	const auto ran = run_wsctl(fake_, {"get", "-d", "d"});
	EXPECT_EQ(ran.status, 1);
	EXPECT_NE(ran.err.find("different versions"), std::string::npos);
}

TEST_F(Get, KnowsNothingOnPlainXfs)
{
	fake_.kernel.type = FakeType::xfs;
	const auto ran = run_wsctl(fake_, {"get", "a"});
	EXPECT_EQ(ran.status, 1);
	EXPECT_NE(ran.err.find("only wsfs tells"), std::string::npos);
}

// What SET was called on, by way of the stream's descriptor.
class SetMany : public Get
{
protected:
	std::size_t set(std::vector<std::string> arguments)
	{
		fake_.kernel.sets.clear();
		arguments.insert(arguments.begin(), {"set", "-v", "--fd", fd()});
		ran_ = run_wsctl(fake_, arguments);
		return fake_.kernel.sets.size();
	}
	[[nodiscard]] std::string fd() const { return std::to_string(stream_.get()); }

	ws::UniqueFd stream_{open("/dev/null", O_RDONLY | O_CLOEXEC)};
	Ran ran_{};
};

TEST_F(SetMany, TakesTrees)
{
	// Of a directory it is where its new files are born.
	EXPECT_EQ(set({"d"}), 0U);
	EXPECT_EQ(ran_.status, 0) << ran_.err;
	EXPECT_EQ(fake_.kernel.dir_places.size(), 1U);
	EXPECT_EQ(set({"-r", "d", "a"}), 3U);
	EXPECT_EQ(ran_.status, 0) << ran_.err;
	EXPECT_TRUE(ran_.out.starts_with("d/c: stream 0"));
}

TEST_F(SetMany, TakesPatterns)
{
	EXPECT_EQ(set({"--glob", "d/*", "--glob", "[ab]"}), 3U);
	EXPECT_EQ(ran_.status, 0) << ran_.err;
	EXPECT_EQ(fake_.kernel.dir_places.size(), 1U); // d/e
	EXPECT_EQ(set({"-r", "-g", "d/*"}), 2U);
	EXPECT_EQ(ran_.status, 0) << ran_.err;
	EXPECT_EQ(set({"-g", "none*"}), 0U);
	EXPECT_EQ(ran_.status, 1);
	EXPECT_NE(ran_.err.find("none*: matches no file"), std::string::npos);
}

TEST_F(SetMany, TakesLists)
{
	using namespace std::string_literals;

	FakeHost::write("list", "a\n\nd/c\n");
	EXPECT_EQ(set({"--files-from", "list"}), 2U);
	FakeHost::write("list", "a\0odd\n\xff\0"s);
	EXPECT_EQ(set({"--files-from", "list", "--null"}), 2U);
	EXPECT_EQ(ran_.status, 0) << ran_.err;
	// Lists that are of the other kind are found out.
	EXPECT_EQ(set({"--files-from", "list"}), 0U);
	EXPECT_EQ(ran_.status, 1);
	EXPECT_EQ(set({"--files-from", "missing"}), 0U);
	EXPECT_EQ(ran_.status, 1);
	EXPECT_EQ(set({}), 0U);
	EXPECT_EQ(ran_.status, 2);
}

TEST_F(SetMany, TakesDescriptors)
{
	const ws::UniqueFd file(open("a", O_RDWR | O_CLOEXEC));
	const ws::UniqueFd readable(open("b", O_RDONLY | O_CLOEXEC));

	EXPECT_EQ(set({"--file-fd", std::to_string(file.get())}), 1U);
	EXPECT_EQ(ran_.status, 0) << ran_.err;
	EXPECT_EQ(set({"--file-fd", std::to_string(readable.get())}), 0U);
	EXPECT_EQ(ran_.status, 1);
	EXPECT_EQ(run_wsctl(fake_, {"clear", "--file-fd", std::to_string(file.get())}).status, 0);
	EXPECT_EQ(fake_.kernel.sets.back().flags, FS_WRITE_STREAM_SET_CLEAR);
}

} // namespace
