// SPDX-License-Identifier: GPL-2.0
// A stream that is ours for as long as the object lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <ws/ag_set.h>
#include <ws/kernel.h>
#include <ws/unique_fd.h>

namespace ws
{

// What /proc/self/fdinfo tells about a stream's descriptor.
struct StreamFdInfo {
	std::uint32_t id = 0;
	AgSet ag_set;
	std::uint64_t files = 0;
	std::uint64_t bytes = 0;
	std::string dev; // directory below /sys/fs/wsfs; empty where it is not told
};

// Nothing where the text is not that of a stream.
std::optional<StreamFdInfo> parse_stream_fdinfo(std::string_view text);

class Stream
{
public:
	// Reserves any free stream of the device that @fd is placed on.
	static Stream reserve(const Host &host, int fd, const std::string &path);

	[[nodiscard]] int fd() const noexcept { return fd_.get(); }
	// The descriptor, for whoever goes on holding the stream.
	[[nodiscard]] UniqueFd take_fd() && noexcept { return std::move(fd_); }
	// Nothing on kernels that keep the id to themselves.
	[[nodiscard]] std::optional<StreamFdInfo> info(const Host &host) const;

private:
	explicit Stream(UniqueFd fd) noexcept : fd_(std::move(fd)) {}
	UniqueFd fd_;
};

// The number of streams of the device that @fd is placed on. Throws Error.
std::uint32_t streams_available(const Host &host, int fd, const std::string &path);

std::optional<StreamFdInfo> stream_fdinfo(const Host &host, int fd);

} // namespace ws
