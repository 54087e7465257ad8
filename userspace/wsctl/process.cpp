// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ws/error.h>
#include <ws/unique_fd.h>

namespace wsctl
{

namespace
{

constexpr std::array forwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Blocks what run_child() waits for, and puts everything back.
class SignalGuard
{
public:
	SignalGuard()
	{
		struct sigaction plain = {};

		sigemptyset(&waited_);
		sigaddset(&waited_, SIGCHLD);
		for (const int signal : forwarded)
			sigaddset(&waited_, signal);
		sigprocmask(SIG_BLOCK, &waited_, &before_);
		// Where SIGCHLD is ignored a child leaves no status behind.
		plain.sa_handler = SIG_DFL;
		sigaction(SIGCHLD, &plain, &chld_before_);
	}
	SignalGuard(const SignalGuard &) = delete;
	SignalGuard &operator=(const SignalGuard &) = delete;
	~SignalGuard() { restore(); }

	void restore() const noexcept
	{
		sigaction(SIGCHLD, &chld_before_, nullptr);
		sigprocmask(SIG_SETMASK, &before_, nullptr);
	}
	[[nodiscard]] const sigset_t &waited() const noexcept { return waited_; }

private:
	sigset_t waited_ = {};
	sigset_t before_ = {};
	struct sigaction chld_before_ = {};
};

struct Pipe {
	ws::UniqueFd read;
	ws::UniqueFd write;
};

Pipe make_pipe()
{
	std::array<int, 2> fds{};

	if (pipe2(fds.data(), O_CLOEXEC) != 0)
		throw ws::Error("wsctl", "pipe2", errno);
	return {.read = ws::UniqueFd(fds[0]), .write = ws::UniqueFd(fds[1])};
}

// What execvp() wants; points into @words.
std::vector<char *> arguments_of(std::vector<std::string> &words)
{
	std::vector<char *> argv;

	argv.reserve(words.size() + 1);
	for (std::string &word : words)
		argv.push_back(word.data());
	argv.push_back(nullptr);
	return argv;
}

// Returns only where it failed, with errno set.
void become(const ChildPlan &plan, std::vector<char *> &argv)
{
	for (const int fd : plan.keep_open) {
		const int flags = fcntl(fd, F_GETFD);

		if (flags < 0 || fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC) != 0)
			return;
	}
	for (const auto &[name, value] : plan.environment) {
		if (setenv(name.c_str(), value.c_str(), 1) != 0)
			return;
	}
	execvp(argv[0], argv.data());
}

ws::Error not_executed(const ChildPlan &plan, int code)
{
	return {plan.command[0], "exec", code,
		code == ENOENT ? "check the command's name and PATH"
			       : "check that the command may be executed"};
}

// 0 where exec worked, which closes the pipe.
int exec_error(int fd)
{
	int code = 0;
	ssize_t got = 0;

	do {
		got = read(fd, &code, sizeof(code));
	} while (got < 0 && errno == EINTR);
	return got == sizeof(code) ? code : 0;
}

ChildEnd wait_for(pid_t child, const SignalGuard &signals)
{
	for (;;) {
		siginfo_t info = {};
		const int signal = sigwaitinfo(&signals.waited(), &info);

		if (signal == SIGCHLD) {
			int status = 0;

			if (waitpid(child, &status, WNOHANG) != child)
				continue;
			if (WIFSIGNALED(status))
				return {.status = 128 + WTERMSIG(status),
					.signal = WTERMSIG(status)};
			return {.status = WEXITSTATUS(status), .signal = 0};
		}
		// The terminal's own go to the whole foreground group.
		if (signal > 0 && info.si_code != SI_KERNEL)
			kill(child, signal);
	}
}

} // namespace

ChildEnd run_child(const ChildPlan &plan)
{
	std::vector<std::string> words = plan.command;
	std::vector<char *> argv = arguments_of(words);
	Pipe failure = make_pipe();
	const SignalGuard signals;

	const pid_t child = fork();
	if (child < 0)
		throw ws::Error(plan.command[0], "fork", errno);
	if (child == 0) {
		signals.restore();
		become(plan, argv);
		const int code = errno;
		const ssize_t told = write(failure.write.get(), &code, sizeof(code));
		_exit(told == sizeof(code) ? 127 : 126);
	}
	failure.write.reset();
	const int code = exec_error(failure.read.get());
	if (code != 0) {
		waitpid(child, nullptr, 0);
		throw not_executed(plan, code);
	}
	return wait_for(child, signals);
}

void become_command(const ChildPlan &plan)
{
	std::vector<std::string> words = plan.command;
	std::vector<char *> argv = arguments_of(words);

	become(plan, argv);
	throw not_executed(plan, errno);
}

} // namespace wsctl
