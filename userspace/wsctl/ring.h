// SPDX-License-Identifier: GPL-2.0
// Opens files through io_uring, many at a time: each may have to wait for the
// device to read an inode.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace wsctl
{

class Ring
{
public:
	// Null where the kernel, or whoever confines us, has no io_uring.
	static std::unique_ptr<Ring> make(unsigned entries);
	Ring(const Ring &) = delete;
	Ring &operator=(const Ring &) = delete;
	// Waits for what is under way; descriptors that nobody took are closed.
	~Ring();

	// Begins to open @name in @dir for reading. @name and @token stay valid
	// until the answer. There has to be room: see has_room().
	void open(int dir, const char *name, void *token);
	[[nodiscard]] bool has_room() const noexcept { return under_way_ < entries_; }
	[[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
	// Hands what was begun to the kernel.
	void submit();
	// For each answer that is there: its token, and the descriptor or -errno.
	void reap(const std::function<void(void *token, int result)> &done);
	// Readable when there are answers.
	[[nodiscard]] int fd() const noexcept;

private:
	struct State;

	explicit Ring(unsigned entries);

	std::unique_ptr<State> state_;
	std::size_t entries_;
	std::size_t under_way_ = 0;
};

} // namespace wsctl
