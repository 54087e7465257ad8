// SPDX-License-Identifier: GPL-2.0
#include "ring.h"

#include <cerrno>

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <ws/error.h>

namespace wsctl
{

struct Ring::State {
	io_uring ring{};
};

Ring::Ring(unsigned entries) : state_(std::make_unique<State>()), entries_(entries) {}

std::unique_ptr<Ring> Ring::make(unsigned entries)
{
	std::unique_ptr<Ring> ring(new Ring(entries));

	if (io_uring_queue_init(entries, &ring->state_->ring, 0) < 0)
		ring->state_.reset();
	return ring->state_ ? std::move(ring) : nullptr;
}

Ring::~Ring()
{
	if (!state_)
		return;
	while (under_way_ > 0) {
		io_uring_cqe *cqe = nullptr;
		const int result = io_uring_submit_and_wait(&state_->ring, 1);

		if (result < 0 && result != -EINTR)
			break;
		while (io_uring_peek_cqe(&state_->ring, &cqe) == 0) {
			if (cqe->res >= 0)
				::close(cqe->res);
			io_uring_cqe_seen(&state_->ring, cqe);
			under_way_--;
		}
	}
	io_uring_queue_exit(&state_->ring);
}

int Ring::fd() const noexcept
{
	return state_->ring.ring_fd;
}

void Ring::open(int dir, const char *name, void *token)
{
	io_uring_sqe *sqe = io_uring_get_sqe(&state_->ring);

	if (!sqe) {
		submit();
		sqe = io_uring_get_sqe(&state_->ring);
	}
	if (!sqe)
		throw ws::Error("io_uring", "io_uring_get_sqe", EBUSY);
	io_uring_prep_openat(sqe, dir, name,
			     O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC, 0);
	io_uring_sqe_set_data(sqe, token);
	under_way_++;
}

void Ring::submit()
{
	const int result = io_uring_submit(&state_->ring);

	// What could not be handed over now stays in the queue for the next time.
	if (result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY)
		throw ws::Error("io_uring", "io_uring_submit", -result);
}

void Ring::reap(const std::function<void(void *token, int result)> &done)
{
	io_uring_cqe *cqe = nullptr;

	while (io_uring_peek_cqe(&state_->ring, &cqe) == 0) {
		void *token = io_uring_cqe_get_data(cqe);
		const int result = cqe->res;

		io_uring_cqe_seen(&state_->ring, cqe);
		under_way_--;
		done(token, result);
	}
}

} // namespace wsctl
