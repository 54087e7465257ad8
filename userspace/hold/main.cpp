// SPDX-License-Identifier: GPL-2.0
// wsfs-holdd: holds streams by name, and hands them to those who may have them.
//
// A program of its own, and not a mode of wsctl, because it runs as root for as
// long as the machine does and reads what anybody sends: it has no command line
// or JSON library in it, opens no file that a client names, and its unit allows
// it little besides its socket and one ioctl.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/kernel.h>
#include <ws/parse.h>

#include "server.h"
#include "socket.h"
#include "systemd.h"
#include "table.h"

namespace
{

constexpr int exit_usage = 2;
constexpr std::string_view listener_name = "wsfs-hold";

struct Options {
	std::string socket = hold::default_socket;
	hold::Limits limits;
};

constexpr const char *help =
	"Usage: wsfs-holdd [--socket PATH] [--timeout SECONDS] [--idle SECONDS]\n"
	"Hold write streams by name for 'wsctl hold', 'wsctl run --hold' and others.\n"
	"\n"
	"  --socket PATH      listen there; default /run/wsfs/hold.sock. Not used where a\n"
	"                     service manager passes a socket (LISTEN_FDS)\n"
	"  --timeout SECONDS  what a client may take, default 5\n"
	"  --idle SECONDS     end where nothing is held for so long; default 0, never\n"
	"  --help, --version\n"
	"\n"
	"The manual is wsfs-holdd(8).\n";

std::chrono::seconds seconds(const std::string &text)
{
	constexpr std::uint64_t most = 86400;
	const auto value = ws::parse_number(text, most);

	if (!value)
		throw ws::Error(text, "is no number of seconds", "wsfs-holdd --help");
	return std::chrono::seconds(*value);
}

// Nothing where there is nothing to run.
std::optional<Options> parse(const std::vector<std::string> &words)
{
	Options options;

	for (std::size_t i = 0; i < words.size(); i++) {
		const std::string &word = words[i];

		if (word == "--help" || word == "--version") {
			std::cout << (word == "--help" ? help : "wsfs-holdd " WSFS_VERSION "\n");
			return std::nullopt;
		}
		if (word != "--socket" && word != "--timeout" && word != "--idle")
			throw ws::Error(word, "is no option", "wsfs-holdd --help");
		if (i + 1 == words.size())
			throw ws::Error(word, "needs a value", "wsfs-holdd --help");
		const std::string &value = words[++i];
		if (word == "--socket")
			options.socket = value;
		else if (word == "--timeout")
			options.limits.time = seconds(value);
		else
			options.limits.idle = seconds(value);
	}
	return options;
}

// A socket of our own, in the place of one that nobody listens on.
ws::UniqueFd listen_at(const std::string &path)
{
	const sockaddr_un address = hold::address_of(path);
	const auto *name = reinterpret_cast<const sockaddr *>(&address);
	constexpr int backlog = 128;
	ws::UniqueFd probe(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	ws::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	if (!probe || !socket)
		throw ws::Error(path, "socket", errno);
	if (connect(probe.get(), name, sizeof(address)) == 0)
		throw ws::Error(path, "another wsfs-holdd listens there",
				"end it, or give --socket PATH");
	if (errno == ECONNREFUSED)
		unlink(path.c_str());
	// Who may do what is decided by what the kernel says of the client.
	const mode_t before = umask(0111);
	const int result = bind(socket.get(), name, sizeof(address));
	const int code = errno;
	umask(before);
	if (result != 0)
		throw ws::Error(path, "bind", code,
				code == ENOENT ? "make the directory: mkdir -m 755 /run/wsfs"
					       : ws::advice_for("bind", code));
	if (listen(socket.get(), backlog) != 0)
		throw ws::Error(path, "listen", errno);
	return socket;
}

ws::UniqueFd signals_to_end()
{
	sigset_t wanted = {};

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGHUP);
	sigprocmask(SIG_BLOCK, &wanted, nullptr);
	ws::UniqueFd fd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
	if (!fd)
		throw ws::Error("wsfs-holdd", "signalfd", errno);
	return fd;
}

// Room for every stream that the table may hold.
void raise_limit() noexcept
{
	constexpr rlim_t enough = 4096;
	rlimit limit = {};

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough)
		return;
	limit.rlim_cur = std::min(enough, limit.rlim_max);
	setrlimit(RLIMIT_NOFILE, &limit);
}

void log(const std::string &text)
{
	std::cerr << "wsfs-holdd: " << text << '\n';
}

void serve(const Options &options)
{
	ws::LinuxKernel kernel;
	hold::Notifier notifier;
	hold::Table table(ws::Host{.kernel = kernel}, notifier);
	const ws::UniqueFd stop = signals_to_end();
	ws::UniqueFd listener;

	raise_limit();
	for (hold::NamedFd &inherited : hold::inherited_fds()) {
		int listens = 0;
		socklen_t size = sizeof(listens);

		if (!listener &&
		    getsockopt(inherited.fd.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) ==
			    0 &&
		    listens)
			listener = std::move(inherited.fd);
		else if (!table.restore(inherited.name, std::move(inherited.fd)))
			log(fmt::format("descriptor '{}' is not mine", inherited.name));
	}
	for (const std::string &name : table.finish_restore())
		log(fmt::format("{}: some of its streams are lost, so all are released", name));
	const bool own = !listener;
	if (own)
		listener = listen_at(options.socket);
	else if (fcntl(listener.get(), F_SETFL, O_NONBLOCK) != 0)
		throw ws::Error(std::string(listener_name), "fcntl(F_SETFL)", errno);
	notifier.send("READY=1\n");
	hold::Server(table, options.limits).run(listener.get(), stop.get());
	notifier.send("STOPPING=1\n");
	if (own)
		unlink(options.socket.c_str());
}

} // namespace

int main(int argc, char **argv)
{
	try {
		const auto options = parse(std::vector<std::string>(argv + 1, argv + argc));

		if (options)
			serve(*options);
		return 0;
	} catch (const ws::Error &error) {
		log(error.what());
		if (!error.advice().empty())
			log("hint: " + error.advice());
		return error.code() == 0 ? exit_usage : 1;
	} catch (const std::exception &error) {
		log(error.what());
		return 1;
	}
}
