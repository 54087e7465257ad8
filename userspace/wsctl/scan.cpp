// SPDX-License-Identifier: GPL-2.0
// The caller's thread walks the trees and opens files through io_uring, some
// hundred ahead; worker threads look at what is open, since FIEMAP and the rest
// have no io_uring operation; the caller's thread takes the results in order.
#include "scan.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "progress.h"
#include "ring.h"

namespace wsctl
{

namespace
{

constexpr std::size_t largest_window = 512;
constexpr unsigned ring_entries = 128;

// How many files may be under way at once: each may hold its own descriptor
// and its directory's, and the walk holds two for each level.
std::size_t window_for_limit()
{
	constexpr rlim_t plenty = 8192;
	constexpr rlim_t spare = 128;
	constexpr rlim_t per_file = 3;
	rlimit limit{};

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1;
	if (limit.rlim_cur < plenty && limit.rlim_max > limit.rlim_cur) {
		limit.rlim_cur = std::min(plenty, limit.rlim_max);
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			getrlimit(RLIMIT_NOFILE, &limit);
	}
	const rlim_t room = limit.rlim_cur > spare ? limit.rlim_cur - spare : 0;
	return std::clamp<std::size_t>(room / per_file, 1, largest_window);
}

struct Slot {
	FoundFile file;
	ws::UniqueFd fd;
	std::shared_ptr<void> result;
	std::optional<ws::Error> error;
	std::exception_ptr thrown; // anything else, such as no memory
	bool vanished = false;
	std::atomic<bool> done = false;
};

bool is_gone(int code)
{
	// Replaced by a link, in the case of ELOOP.
	return code == ENOENT || code == ELOOP;
}

class Scan
{
public:
	using Look = std::function<std::shared_ptr<void>(const FoundFile &, OpenFile &&)>;

	Scan(const Context &context, std::vector<Operand> operands, const Look &look)
	    : context_(context), opener_(context.host), look_(look),
	      walk_(std::move(operands), [this](const ws::Error &error) { add_error(error); }),
	      ring_(Ring::make(ring_entries)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
	{
		if (!wake_)
			throw ws::Error("wsctl", "eventfd", errno);
		const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
		const unsigned threads = std::clamp(2 * cpus, 4U, 32U);

		try {
			for (unsigned i = 0; i < threads; i++)
				workers_.emplace_back([this] { work(); });
		} catch (const std::system_error &) {
			// Few threads are enough, but not none.
			if (workers_.empty())
				throw;
		}
	}
	Scan(const Scan &) = delete;
	Scan &operator=(const Scan &) = delete;
	~Scan()
	{
		{
			const std::lock_guard lock(mutex_);

			stop_ = true;
		}
		ready_.notify_all();
		for (std::thread &worker : workers_)
			worker.join();
	}

	void run(Progress &progress, const std::function<void(ScanOutcome &&)> &found);

private:
	void work();
	void look_at(Slot &slot);
	void feed();
	void hand_to_workers(Slot &slot);
	void finish(Slot &slot);
	void reap();
	void wait();
	void add_error(const ws::Error &error);

	const Context &context_;
	Opener opener_;
	const Look &look_;
	// Slots stay where they are while others come and go at the ends.
	std::deque<Slot> window_;
	const std::size_t window_size_ = window_for_limit();
	Walk walk_;
	bool walked_ = false;
	std::unique_ptr<Ring> ring_;
	ws::UniqueFd wake_; // a slot is done, and somebody waits for that
	std::atomic<bool> waiting_ = false;
	std::mutex mutex_;
	std::condition_variable ready_;
	std::deque<Slot *> queue_; // open, or to be opened by the worker
	bool stop_ = false;
	std::vector<std::thread> workers_;
};

void Scan::add_error(const ws::Error &error)
{
	Slot &slot = window_.emplace_back();

	slot.file.path = error.path();
	slot.error = error;
	slot.done = true;
}

void Scan::finish(Slot &slot)
{
	const std::uint64_t one = 1;

	slot.done.store(true);
	// When the write fails there are wake-ups enough in there.
	if (waiting_.load() && ::write(wake_.get(), &one, sizeof(one)) < 0)
		return;
}

void Scan::look_at(Slot &slot)
{
	const FoundFile &file = slot.file;

	try {
		if (!file.dir) {
			slot.result = look_(file, opener_.open(file.path));
			return;
		}
		if (!slot.fd)
			slot.fd = ws::UniqueFd(::openat(file.dir->fd.get(), file.name.c_str(),
							O_RDONLY | O_NONBLOCK | O_NOCTTY |
								O_NOFOLLOW | O_CLOEXEC));
		if (!slot.fd)
			throw ws::Error(file.path, "open", errno);
		auto open = opener_.adopt(file.path, std::move(slot.fd));
		if (open)
			slot.result = look_(file, std::move(*open));
		else
			slot.vanished = true; // no regular file any more
	} catch (const ws::Error &error) {
		slot.vanished = file.dir && error.path() == file.path && is_gone(error.code());
		slot.error = error;
	} catch (...) {
		slot.thrown = std::current_exception();
	}
}

void Scan::work()
{
	for (;;) {
		Slot *slot = nullptr;
		{
			std::unique_lock lock(mutex_);

			ready_.wait(lock, [this] { return stop_ || !queue_.empty(); });
			if (stop_)
				return;
			slot = queue_.front();
			queue_.pop_front();
		}
		look_at(*slot);
		finish(*slot);
	}
}

void Scan::hand_to_workers(Slot &slot)
{
	{
		const std::lock_guard lock(mutex_);

		queue_.push_back(&slot);
	}
	ready_.notify_one();
}

void Scan::feed()
{
	while (!walked_ && window_.size() < window_size_ && (!ring_ || ring_->has_room())) {
		auto file = walk_.next();

		if (!file) {
			walked_ = true;
			break;
		}
		Slot &slot = window_.emplace_back();
		slot.file = std::move(*file);
		if (ring_ && slot.file.dir)
			ring_->open(slot.file.dir->fd.get(), slot.file.name.c_str(), &slot);
		else
			hand_to_workers(slot);
	}
	if (ring_)
		ring_->submit();
}

void Scan::reap()
{
	if (!ring_)
		return;
	ring_->reap([this](void *token, int result) {
		Slot &slot = *static_cast<Slot *>(token);

		if (result >= 0) {
			slot.fd = ws::UniqueFd(result);
			hand_to_workers(slot);
		} else if (result == -ECANCELED || result == -EAGAIN || result == -EINTR) {
			hand_to_workers(slot); // opens it without io_uring
		} else {
			slot.vanished = is_gone(-result);
			slot.error = ws::Error(slot.file.path, "open", -result);
			slot.done = true;
		}
	});
}

// Until a slot is done or a file is open.
void Scan::wait()
{
	pollfd fds[] = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
			{.fd = ring_ ? ring_->fd() : -1, .events = POLLIN, .revents = 0}};
	std::uint64_t count = 0;

	// Told first and looked after that, so that no end of a slot is missed.
	waiting_.store(true);
	const int timeout = window_.front().done.load() ? 0 : -1;
	const int ready = poll(fds, 2, timeout);
	waiting_.store(false);
	if (ready < 0 && errno != EINTR)
		throw ws::Error("wsctl", "poll", errno);
	if ((fds[0].revents & POLLIN) && ::read(wake_.get(), &count, sizeof(count)) < 0)
		return; // nothing there after all
}

void Scan::run(Progress &progress, const std::function<void(ScanOutcome &&)> &found)
{
	for (;;) {
		feed();
		reap();
		if (window_.empty() && walked_)
			return;
		if (!window_.front().done.load()) {
			wait();
			continue;
		}
		while (!window_.empty() && window_.front().done.load()) {
			Slot &slot = window_.front();

			if (slot.thrown)
				std::rethrow_exception(slot.thrown);
			if (!slot.vanished)
				found({.file = slot.file,
				       .result = std::move(slot.result),
				       .error = std::move(slot.error)});
			window_.pop_front();
			progress.step(walk_.fraction());
		}
		// A full disk, or a reader that has gone: main() says so.
		if (!context_.out)
			return;
	}
}

} // namespace

void scan_files(const Context &context, std::vector<Operand> operands, Progress &progress,
		const std::function<std::shared_ptr<void>(const FoundFile &, OpenFile &&)> &look,
		const std::function<void(ScanOutcome &&)> &found)
{
	Scan(context, std::move(operands), look).run(progress, found);
	progress.hide();
}

} // namespace wsctl
