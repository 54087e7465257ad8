// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <ws/error.h>
#include <ws/unique_fd.h>

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
