// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/prctl.h>
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

// False where it failed, with errno set.
bool redirect(int output)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	return null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	       dup2(output, STDERR_FILENO) >= 0;
}

// Returns only where it failed, with errno set.
void become(const ChildPlan &plan, std::vector<char *> &argv)
{
	if (!plan.directory.empty() && chdir(plan.directory.c_str()) != 0)
		return;
	if (plan.output >= 0 && !redirect(plan.output))
		return;
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

bool asks_to_end(int signal)
{
	return signal > 0 && signal != SIGUSR1 && signal != SIGUSR2;
}

ChildEnd wait_for(pid_t child, const SignalGuard &signals, const std::function<void()> &tick)
{
	constexpr timespec second = {.tv_sec = 1, .tv_nsec = 0};
	ChildEnd end;

	for (;;) {
		siginfo_t info = {};
		const int signal = sigtimedwait(&signals.waited(), &info, tick ? &second : nullptr);

		if (signal == SIGCHLD) {
			int status = 0;

			if (waitpid(child, &status, WNOHANG) != child)
				continue;
			end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
			end.status = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
			return end;
		}
		if (signal < 0 && errno == EAGAIN)
			tick();
		if (asks_to_end(signal))
			end.asked = signal;
		// The terminal's own go to the whole foreground group.
		if (signal > 0 && info.si_code != SI_KERNEL)
			kill(child, signal);
	}
}

} // namespace

ChildEnd run_child(const ChildPlan &plan, const std::function<void()> &tick)
{
	std::vector<std::string> words = plan.command;
	std::vector<char *> argv = arguments_of(words);
	Pipe failure = make_pipe();
	const SignalGuard signals;
	const pid_t parent = getpid();

	const pid_t child = fork();
	if (child < 0)
		throw ws::Error(plan.command[0], "fork", errno);
	if (child == 0) {
		signals.restore();
		// The parent may be gone already.
		if (plan.ends_with_us &&
		    (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent))
			_exit(126);
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
	try {
		return wait_for(child, signals, tick);
	} catch (...) {
		kill(child, SIGTERM);
		waitpid(child, nullptr, 0);
		throw;
	}
}

void become_command(const ChildPlan &plan)
{
	std::vector<std::string> words = plan.command;
	std::vector<char *> argv = arguments_of(words);

	become(plan, argv);
	throw not_executed(plan, errno);
}

} // namespace wsctl
