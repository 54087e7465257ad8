// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <ws/error.h>
#include <ws/parse.h>
#include <ws/unique_fd.h>

#include "end_request.h"

namespace
{

wsctl::ChildEnd shell(const std::string &script, const std::vector<int> &fds = {})
{
	return wsctl::run_child({.command = {"sh", "-c", script},
				 .keep_open = fds,
				 .environment = {{"WSFS_TEST_VALUE", "some thing"}}});
}

TEST(RunChild, ReturnsTheStatus)
{
	EXPECT_EQ(shell("exit 0").status, 0);
	EXPECT_EQ(shell("exit 7").status, 7);
}

TEST(RunChild, TurnsASignalIntoAStatus)
{
	const auto end = shell("kill -KILL $$");

	EXPECT_EQ(end.status, 128 + SIGKILL);
	EXPECT_EQ(end.signal, SIGKILL);
}

TEST(RunChild, ChangesTheEnvironmentOfTheChildOnly)
{
	EXPECT_EQ(shell("test \"$WSFS_TEST_VALUE\" = 'some thing'").status, 0);
	EXPECT_EQ(getenv("WSFS_TEST_VALUE"), nullptr);
}

TEST(RunChild, PassesOnTheDescriptorsOfThePlanOnly)
{
	const ws::UniqueFd passed(open("/dev/null", O_RDONLY | O_CLOEXEC));
	const ws::UniqueFd kept(open("/dev/null", O_RDONLY | O_CLOEXEC));
	const std::string script = "test -e /proc/self/fd/" + std::to_string(passed.get()) +
				   " && ! test -e /proc/self/fd/" + std::to_string(kept.get());

	EXPECT_EQ(shell(script, {passed.get()}).status, 0);
	EXPECT_EQ(fcntl(passed.get(), F_GETFD), FD_CLOEXEC);
}

TEST(RunChild, WorksWhereAndWritesToWhatThePlanSays)
{
	const ws::UniqueFd output(memfd_create("test", MFD_CLOEXEC));
	const auto end = wsctl::run_child({.command = {"sh", "-c", "pwd; cat; echo error >&2"},
					   .keep_open = {},
					   .environment = {},
					   .directory = "/",
					   .output = output.get()});

	EXPECT_EQ(end.status, 0);
	EXPECT_EQ(ws::read_file("/proc/self/fd/" + std::to_string(output.get())), "/\nerror\n");
	EXPECT_THROW(wsctl::run_child({.command = {"true"},
				       .keep_open = {},
				       .environment = {},
				       .directory = "/no/such"}),
		     ws::Error);
}

TEST(RunChild, TicksMeanwhile)
{
	int ticks = 0;
	const auto end =
		wsctl::run_child({.command = {"sleep", "1.5"}, .keep_open = {}, .environment = {}},
				 [&] { ticks++; });

	EXPECT_EQ(end.status, 0);
	EXPECT_EQ(ticks, 1);
}

TEST(RunChild, EndsTheChildWhereATickFails)
{
	EXPECT_THROW(
		wsctl::run_child({.command = {"sleep", "1000"}, .keep_open = {}, .environment = {}},
				 [] { throw ws::Error("test", "fails", ""); }),
		ws::Error);
}

TEST(RunChild, TellsThatASignalAskedBothToEnd)
{
	EXPECT_EQ(shell("kill -TERM $PPID; exec sleep 1000").asked, SIGTERM);
	EXPECT_EQ(shell("kill -USR1 $PPID; exec sleep 1000").asked, 0);
	EXPECT_EQ(shell("exit 3").asked, 0);
}

TEST(RunChild, EndsWithUs)
{
	std::array<int, 2> fds{};

	ASSERT_EQ(pipe2(fds.data(), 0), 0);
	const ws::UniqueFd seen(fds[0]);
	ws::UniqueFd told(fds[1]);
	const pid_t middle = fork();
	ASSERT_GE(middle, 0);
	if (middle == 0) {
		wsctl::run_child({.command = {"sh", "-c", "echo ready; exec sleep 1000"},
				  .keep_open = {},
				  .environment = {},
				  .output = told.get(),
				  .ends_with_us = true});
		_exit(0);
	}
	told.reset();
	std::array<char, 16> text{};
	EXPECT_EQ(read(seen.get(), text.data(), text.size()), 6);
	kill(middle, SIGKILL);
	waitpid(middle, nullptr, 0);
	// The end of the last one that has it open.
	EXPECT_EQ(read(seen.get(), text.data(), text.size()), 0);
}

TEST(EndRequest, NotesWhatIsNotIgnored)
{
	const auto before = std::signal(SIGHUP, SIG_IGN);
	{
		const wsctl::EndRequest request;

		EXPECT_EQ(wsctl::EndRequest::noted(), 0);
		raise(SIGHUP);
		EXPECT_EQ(wsctl::EndRequest::noted(), 0);
		raise(SIGINT);
		EXPECT_EQ(wsctl::EndRequest::noted(), SIGINT);
	}
	std::signal(SIGHUP, before);
	const wsctl::EndRequest again;
	EXPECT_EQ(wsctl::EndRequest::noted(), 0);
}

TEST(RunChild, TellsWhyItCannotStart)
{
	try {
		wsctl::run_child(
			{.command = {"/nonexistent/program"}, .keep_open = {}, .environment = {}});
		FAIL();
	} catch (const ws::Error &error) {
		EXPECT_EQ(error.call(), "exec");
		EXPECT_EQ(error.code(), ENOENT);
	}
	EXPECT_THROW(wsctl::run_child({.command = {"/"}, .keep_open = {}, .environment = {}}),
		     ws::Error);
}

TEST(RunChild, PutsTheSignalMaskBack)
{
	sigset_t mask = {};

	shell("true");
	sigprocmask(SIG_SETMASK, nullptr, &mask);
	EXPECT_EQ(sigismember(&mask, SIGCHLD), 0);
	EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

TEST(RunChild, ReapsWhereSigchldIsIgnored)
{
	const auto before = std::signal(SIGCHLD, SIG_IGN);

	EXPECT_EQ(shell("exit 3").status, 3);
	std::signal(SIGCHLD, before);
}

// The child writes to a pipe once it is ready, then one signal goes to us.
class RunChildSignals : public testing::TestWithParam<int>
{
};

TEST_P(RunChildSignals, GoOnToTheChild)
{
	int fds[2];
	ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
	ws::UniqueFd from(fds[0]);
	ws::UniqueFd to(fds[1]);
	const int signal = GetParam();
	const pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (pid == 0) {
		const std::string number = std::to_string(signal);
		const std::string fd = std::to_string(to.get());
		const auto end = shell("trap 'exit 42' " + number + "; echo x >/proc/self/fd/" +
					       fd + "; for i in $(seq 500); do sleep 0.02; done",
				       {to.get()});
		_exit(end.status);
	}
	to.reset();
	char ready = 0;
	ASSERT_EQ(read(from.get(), &ready, 1), 1);
	ASSERT_EQ(kill(pid, signal), 0);
	int status = 0;
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	ASSERT_TRUE(WIFEXITED(status)) << "wsctl itself died of the signal";
	EXPECT_EQ(WEXITSTATUS(status), 42);
}

INSTANTIATE_TEST_SUITE_P(All, RunChildSignals,
			 testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2));

} // namespace
