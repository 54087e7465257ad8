// SPDX-License-Identifier: GPL-2.0
// The broker, from wsctl's side and from that of clients that mean no good.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <hold/client.h>

#include "broker.h"
#include "golden.h"

namespace
{

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr gid_t friends = 4242;
constexpr uid_t nobody = 65534;
constexpr int no_errno = 125; // an error of another kind

hold::Limits hurried()
{
	return {.clients = 64, .clients_of_a_user = 8, .time = milliseconds(300)};
}

std::size_t open_descriptors()
{
	const auto begin = std::filesystem::directory_iterator("/proc/self/fd");

	return static_cast<std::size_t>(std::distance(begin, {}));
}

// Waits until @done, or for so long that it is a failure.
template <typename Done>
bool wait_until(const Done &done)
{
	const auto end = Clock::now() + std::chrono::seconds(10);

	while (!done()) {
		if (Clock::now() > end)
			return false;
		usleep(5000);
	}
	return true;
}

// What @function returns in another user's process, 0 to 127.
template <typename Function>
int as_user(const std::vector<gid_t> &groups, const Function &function)
{
	const pid_t child = fork();

	if (child == 0) {
		int status = 127;

		if (setgroups(groups.size(), groups.data()) == 0 &&
		    setresgid(nobody, nobody, nobody) == 0 &&
		    setresuid(nobody, nobody, nobody) == 0) {
			try {
				status = function();
			} catch (const ws::Error &error) {
				status = error.code() == 0 ? no_errno : error.code();
			} catch (const std::exception &) {
				status = 126;
			}
		}
		_exit(status);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

class Hold : public testing::Test
{
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "the broker does nothing for users who are not root";
		// Every descriptor has one of these; what ALLOC returns has more in it.
		for (int fd = 0; fd < 300; fd++)
			fake.write(fake.kernel.fdinfo / std::to_string(fd), "pos:\t0\n");
	}

	FakeHost fake;
};

TEST_F(Hold, HoldsListsAndReleases)
{
	const Broker broker(fake);

	auto ran = run_wsctl(fake, {"hold", "-n", "2", "-g", "4242", "db", "."});
	EXPECT_EQ(ran.status, 0) << ran.err;
	EXPECT_EQ(ran.out, "");
	ran = run_wsctl(fake, {"hold", "log", "."});
	EXPECT_EQ(ran.status, 0) << ran.err;
	expect_golden("hold-list.txt", run_wsctl(fake, {"hold"}).out);
	expect_golden("hold-list.json", run_wsctl(fake, {"hold", "--json"}).out);
	EXPECT_EQ(fake.kernel.free_streams, 1U);
	ran = run_wsctl(fake, {"release", "--json", "db", "nothing"});
	EXPECT_EQ(ran.status, 1);
	expect_golden("release.json", ran.out);
	expect_golden("release-errors.txt", ran.err);
	run_wsctl(fake, {"release", "log"});
	EXPECT_EQ(run_wsctl(fake, {"hold"}).out, "no streams are held\n");
}

TEST_F(Hold, SaysWhatIsWrong)
{
	std::string all;
	const auto fail = [&](const std::vector<std::string> &arguments) {
		const auto ran = run_wsctl(fake, arguments);

		EXPECT_EQ(ran.status, 1);
		all += ran.err;
	};

	setenv(hold::env_socket, "nobody-listens", 1);
	fail({"hold", "db", "."});
	const Broker broker(fake);
	run_wsctl(fake, {"hold", "db", "."});
	fail({"hold", "db", "."});
	fail({"hold", "--keep", "-n", "2", "db", "."});
	fail({"hold", "-n", "4", "all", "."});
	fail({"hold", "../db", "."});
	fail({"hold", "-g", "no-such-group", "x", "."});
	fail({"hold", "x", "missing"});
	expect_golden("hold-errors.txt", all);
	// What failed half-way is given back: nothing of "all" is held.
	EXPECT_EQ(run_wsctl(fake, {"release", "all"}).status, 1);
}

TEST_F(Hold, KeepsWhatIsTheSame)
{
	const Broker broker(fake);

	EXPECT_EQ(run_wsctl(fake, {"hold", "--keep", "-n", "2", "db", "."}).status, 0);
	EXPECT_EQ(run_wsctl(fake, {"hold", "--keep", "-n", "2", "db", "."}).status, 0);
	EXPECT_EQ(fake.kernel.free_streams, 2U);
}

TEST_F(Hold, RunsWithHeldStreams)
{
	const Broker broker(fake);

	run_wsctl(fake, {"hold", "-n", "2", "db", "."});
	// The fake kernel tells the ids by descriptor, and the command has others.
	constexpr auto script =
		"test $WSFS_STREAMS = 2; IFS=,; for fd in $WSFS_STREAM_FDS; do "
		"test $(readlink /proc/self/fd/$fd) = /dev/null || exit 3; done; exit 7";
	const auto ran = run_wsctl(fake, {"run", "--hold", "db", "--", "sh", "-c", script});
	EXPECT_EQ(ran.status, 7) << ran.err;
	EXPECT_EQ(fake.kernel.free_streams, 2U);
	EXPECT_EQ(run_wsctl(fake, {"run", "--hold", "other", "--", "true"}).status, 125);
	EXPECT_EQ(run_wsctl(fake, {"run", "--hold", "db", ".", "--", "true"}).status, 125);
}

TEST_F(Hold, SetsHeldStreams)
{
	const Broker broker(fake);

	fake.add("a", {});
	run_wsctl(fake, {"hold", "-n", "2", "db", "."});
	EXPECT_EQ(run_wsctl(fake, {"set", "--held", "db", "a"}).status, 0);
	EXPECT_EQ(run_wsctl(fake, {"set", "--held", "db:1", "a"}).status, 0);
	EXPECT_EQ(fake.kernel.sets.size(), 2U);
	const auto ran = run_wsctl(fake, {"set", "--held", "db:2", "a"});
	EXPECT_EQ(ran.status, 1);
	expect_golden("set-held-slot.txt", ran.err);
	EXPECT_EQ(run_wsctl(fake, {"set", "--held", "db:x", "a"}).status, 1);
	EXPECT_EQ(run_wsctl(fake, {"set", "--held", "db", "--fd", "3", "a"}).status, 2);
}

TEST_F(Hold, GivesToTheGroupAlone)
{
	const Broker broker(fake);
	const auto take = [&] {
		const auto result =
			hold::ask(broker.path(), {.verb = hold::Verb::take, .name = "db"});

		return result.streams.size() == 1 && result.streams[0].get() > 2 ? 0 : 125;
	};

	ASSERT_EQ(run_wsctl(fake, {"hold", "-g", std::to_string(friends), "db", "."}).status, 0);
	EXPECT_EQ(as_user({friends}, take), 0);
	EXPECT_EQ(as_user({1, 2, 3, friends, 5}, take), 0);
	EXPECT_EQ(as_user({}, take), EACCES);
	EXPECT_EQ(as_user({friends + 1}, take), EACCES);
	run_wsctl(fake, {"release", "db"});
	ASSERT_EQ(run_wsctl(fake, {"hold", "db", "."}).status, 0);
	EXPECT_EQ(as_user({friends, 0}, take), EACCES);
}

TEST_F(Hold, LetsRootAloneHoldAndRelease)
{
	const Broker broker(fake);

	ASSERT_EQ(run_wsctl(fake, {"hold", "-g", std::to_string(friends), "db", "."}).status, 0);
	EXPECT_EQ(as_user({friends},
			  [&] {
				  hold::ask(broker.path(),
					    {.verb = hold::Verb::release, .name = "db"});
				  return 0;
			  }),
		  EPERM);
	EXPECT_EQ(as_user({friends},
			  [&] {
				  const ws::UniqueFd file(open(".", O_RDONLY));
				  hold::ask(broker.path(), {.verb = hold::Verb::hold, .name = "x"},
					    file.get());
				  return 0;
			  }),
		  // Its descriptor was not even taken, so more was sent than may be.
		  no_errno);
	EXPECT_EQ(run_wsctl(fake, {"hold"}).out.find("x "), std::string::npos);
	EXPECT_EQ(fake.kernel.free_streams, 3U);
}

TEST_F(Hold, AnswersWhileOthersHang)
{
	const Broker broker(fake, hurried());
	constexpr int clients = 50;
	std::vector<ws::UniqueFd> idle;
	const auto before = open_descriptors();

	idle.reserve(clients);
	for (int i = 0; i < clients; i++)
		idle.push_back(connect_to_broker(broker.path()));
	const auto begin = Clock::now();
	EXPECT_EQ(run_wsctl(fake, {"hold"}).status, 0);
	EXPECT_LT(Clock::now() - begin, milliseconds(250));
	// Their time ends, and so do they.
	for (const ws::UniqueFd &client : idle) {
		pollfd wanted = {.fd = client.get(), .events = POLLIN, .revents = 0};

		ASSERT_EQ(poll(&wanted, 1, 10000), 1);
		EXPECT_TRUE(wanted.revents & POLLHUP);
	}
	idle.clear();
	EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
}

TEST_F(Hold, LimitsAUser)
{
	const Broker broker(fake);
	const int status = as_user({}, [&] {
		constexpr int clients = 20;
		std::vector<ws::UniqueFd> idle;
		int refused = 0;

		idle.reserve(clients);
		for (int i = 0; i < clients; i++)
			idle.push_back(connect_to_broker(broker.path()));
		for (const ws::UniqueFd &client : idle) {
			pollfd wanted = {.fd = client.get(), .events = POLLIN, .revents = 0};

			if (poll(&wanted, 1, 300) == 1) {
				const auto packet = hold::receive_packet(client.get(), 4096, 0);
				const auto reply = hold::parse_reply(packet.text);

				refused += reply.error && reply.error->code() == EBUSY ? 1 : 0;
			}
		}
		return refused;
	});

	EXPECT_EQ(status, 12);
	EXPECT_EQ(run_wsctl(fake, {"hold"}).status, 0);
}

TEST_F(Hold, OutlivesGarbage)
{
	const Broker broker(fake, hurried());
	const auto before = open_descriptors();
	const std::string long_text(100000, 'x');
	const std::string all_bytes = [] {
		std::string text;

		for (int c = 0; c < 256; c++)
			text += static_cast<char>(c);
		return text;
	}();

	for (const std::string &text :
	     {std::string("\n"), std::string("wsfs-hold 1\nhold\nname=x\n"), all_bytes, long_text,
	      long_text.substr(0, hold::max_request + 1)}) {
		const ws::UniqueFd client = connect_to_broker(broker.path());

		hold::send_packet(client.get(), text, {});
		const auto reply = hold::parse_reply(
			hold::receive_packet(client.get(), hold::max_reply, 0).text);
		EXPECT_TRUE(reply.error);
	}
	EXPECT_EQ(run_wsctl(fake, {"hold"}).out, "no streams are held\n");
	EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
}

TEST_F(Hold, KeepsNoDescriptorOfAClient)
{
	const Broker broker(fake, hurried());
	const ws::UniqueFd file(open(".", O_RDONLY | O_CLOEXEC));
	const std::vector<int> many(200, file.get());
	const auto before = open_descriptors();

	for (const hold::Verb verb : {hold::Verb::list, hold::Verb::hold, hold::Verb::take}) {
		const ws::UniqueFd client = connect_to_broker(broker.path());

		hold::send_packet(client.get(),
				  hold::encode(hold::Request{.verb = verb, .name = "x"}), many);
		EXPECT_TRUE(hold::parse_reply(
				    hold::receive_packet(client.get(), hold::max_reply, 0).text)
				    .error);
	}
	EXPECT_TRUE(wait_until([&] { return open_descriptors() == before; }));
	EXPECT_EQ(fake.kernel.free_streams, 4U);
}

TEST_F(Hold, OutlivesClientsThatHangUp)
{
	const Broker broker(fake);

	run_wsctl(fake, {"hold", "db", "."});
	for (int i = 0; i < 200; i++) {
		const ws::UniqueFd client = connect_to_broker(broker.path());

		if (i % 2 == 0)
			hold::send_packet(
				client.get(),
				hold::encode(hold::Request{.verb = hold::Verb::take, .name = "db"}),
				{});
	}
	EXPECT_EQ(run_wsctl(fake, {"hold"}).status, 0);
}

TEST_F(Hold, EndsWhenIdle)
{
	FakeStore store;
	hold::Table table(fake.host(), store);
	int fds[2];
	const ws::UniqueFd listener(
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	const sockaddr_un address = hold::address_of("@wsfs-test-idle");

	ASSERT_TRUE(listener);
	ASSERT_EQ(
		bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)),
		0);
	ASSERT_EQ(listen(listener.get(), 1), 0);
	ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
	const ws::UniqueFd stop(fds[0]);
	const ws::UniqueFd other(fds[1]);
	hold::Server(table, {.idle = milliseconds(50)}).run(listener.get(), stop.get());
}

TEST_F(Hold, RestoresFromTheStore)
{
	FakeStore store;
	hold::Table table(fake.host(), store);
	const ws::UniqueFd file(open(".", O_RDONLY | O_CLOEXEC));
	const hold::Peer root{.uid = 0, .groups = {0}};
	ASSERT_TRUE(file);
	const auto ask = [&](hold::Table &of, const hold::Request &request, bool with_file) {
		hold::Packet packet{.text = hold::encode(request), .fds = {}};

		if (with_file)
			packet.fds.emplace_back(dup(file.get()));
		return of.answer(root, packet);
	};

	ask(table, {.verb = hold::Verb::hold, .name = "db", .streams = 2, .group = 7}, true);
	ask(table, {.verb = hold::Verb::hold, .name = "half", .streams = 2}, true);
	ASSERT_EQ(store.kept.size(), 4U);
	store.kept.erase("half/-/1/2/nvme0n1p1");

	FakeStore next_store;
	hold::Table next(fake.host(), next_store);
	for (auto &[name, fd] : store.kept)
		EXPECT_TRUE(next.restore(name, std::move(fd))) << name;
	EXPECT_FALSE(next.restore("stored", ws::UniqueFd(dup(file.get()))));
	EXPECT_EQ(next.finish_restore(), std::vector<std::string>{"half"});
	const auto answer = ask(next, {.verb = hold::Verb::take, .name = "db"}, false);
	ASSERT_EQ(answer.reply.held.size(), 1U);
	EXPECT_EQ(answer.reply.held[0].group, 7U);
	EXPECT_EQ(answer.reply.held[0].dev, "nvme0n1p1");
	EXPECT_EQ(answer.fds.size(), 2U);
}

TEST(HoldStore, NamesComeBackAsTheyWere)
{
	const auto back = hold::parse_stored_name(hold::encode(
		hold::StoredName{.name = "db", .group = 3, .slot = 1, .count = 2, .dev = "dm-0"}));

	ASSERT_TRUE(back);
	EXPECT_EQ(back->name, "db");
	EXPECT_EQ(back->group, 3U);
	EXPECT_EQ(back->slot, 1U);
	EXPECT_EQ(back->count, 2U);
	EXPECT_EQ(back->dev, "dm-0");
	for (const char *bad : {"", "db", "db/3/2/2/x", "db/3/0/65/x", "db/x/0/1/y", "../3/0/1/x",
				"db/3/0/1", "db/3/0/1/x/y"})
		EXPECT_FALSE(hold::parse_stored_name(bad)) << bad;
}

} // namespace
