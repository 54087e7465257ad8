// SPDX-License-Identifier: GPL-2.0
// ws.h over the C++ types. No exception and no C++ type crosses.
#include <ws.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <ws/environment.h>
#include <ws/error.h>
#include <ws/file_stream.h>
#include <ws/stream.h>

namespace
{

// Plain arrays: they need no memory when memory is what is missing, and no
// destructor when the thread ends.
template <std::size_t size>
class Text
{
public:
	void assign(std::string_view text) noexcept
	{
		const std::size_t length = std::min(text.size(), size - 1);

		text.copy(bytes_.data(), length);
		bytes_.at(length) = '\0';
	}
	[[nodiscard]] const char *c_str() const noexcept { return bytes_.data(); }

private:
	std::array<char, size> bytes_{};
};

struct LastError {
	Text<4096 + 256> text;
	Text<512> advice;
	int code = 0;
};

thread_local LastError last_error;

int fail(std::string_view text, std::string_view advice, int code) noexcept
{
	last_error.text.assign(text);
	last_error.advice.assign(advice);
	last_error.code = code;
	errno = code;
	return -1;
}

// Runs @call; what it throws becomes -1 and an errno.
template <typename Call>
int guarded(const Call &call) noexcept
{
	try {
		return call();
	} catch (const ws::Error &error) {
		return fail(error.what(), error.advice(), error.code() ? error.code() : EINVAL);
	} catch (const std::bad_alloc &) {
		return fail("out of memory (ENOMEM)", "", ENOMEM);
	} catch (const std::exception &error) {
		return fail(error.what(), "", EIO);
	}
}

ws::Host host()
{
	static ws::LinuxKernel kernel;

	return {.kernel = kernel};
}

// What the caller knows the open file as.
std::string name_of(int fd)
{
	std::error_code failed;
	const auto name =
		std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), failed);

	return failed ? fmt::format("descriptor {}", fd) : name.string();
}

// Copies as much as the caller has room for, and zeroes what is beyond us.
template <typename Info>
int give(const Info &from, Info *to, std::size_t size, const char *name)
{
	static_assert(std::is_trivially_copyable_v<Info>);
	if (!to || size < sizeof(Info))
		throw ws::Error(name, "the structure", EINVAL,
				"pass its address and its sizeof; compile against this ws.h");
	std::memset(to, 0, size);
	std::memcpy(to, &from, sizeof(from));
	return 0;
}

ws::StreamFdInfo stream_info(int stream_fd)
{
	if (fcntl(stream_fd, F_GETFD) < 0)
		throw ws::Error(name_of(stream_fd), "fcntl(F_GETFD)", errno,
				"the stream's descriptor is not open here");
	auto info = ws::stream_fdinfo(host(), stream_fd);
	if (!info)
		throw ws::Error(name_of(stream_fd), "/proc/self/fdinfo", EINVAL,
				"the descriptor is no write stream, or the kernel tells nothing "
				"about streams");
	return std::move(*info);
}

} // namespace

int ws_streams_available(int fd)
{
	return guarded(
		[&] { return static_cast<int>(ws::streams_available(host(), fd, name_of(fd))); });
}

int ws_stream_reserve(int fd)
{
	return guarded(
		[&] { return ws::Stream::reserve(host(), fd, name_of(fd)).take_fd().release(); });
}

int ws_stream_inherited(unsigned int slot)
{
	return guarded([&] { return ws::inherited_stream(slot); });
}

int ws_stream_release(int stream_fd)
{
	return guarded([&] {
		const std::string name = name_of(stream_fd);

		if (::close(stream_fd) != 0 && errno != EINTR)
			throw ws::Error(name, "close", errno);
		return 0;
	});
}

int ws_stream_set(int fd, int stream_fd)
{
	return guarded([&] {
		ws::set_stream(host(), fd, name_of(fd), stream_fd);
		return 0;
	});
}

int ws_stream_clear(int fd)
{
	return guarded([&] {
		ws::clear_stream(host(), fd, name_of(fd));
		return 0;
	});
}

int ws_stream_get_info(int stream_fd, struct ws_stream_info *info, size_t size)
{
	return guarded([&] {
		const ws::StreamFdInfo found = stream_info(stream_fd);
		const ws_stream_info answer{
			.id = found.id, .reserved = 0, .files = found.files, .bytes = found.bytes};

		return give(answer, info, size, "ws_stream_get_info");
	});
}

int ws_stream_ag_set(int stream_fd, char *text, size_t size)
{
	return guarded([&] {
		const std::string set = stream_info(stream_fd).ag_set.str();

		if (text && size > 0) {
			const std::size_t length = std::min(set.size(), size - 1);

			std::memcpy(text, set.data(), length);
			text[length] = '\0';
		}
		return static_cast<int>(set.size());
	});
}

int ws_file_get_info(int fd, struct ws_file_info *info, size_t size)
{
	return guarded([&] {
		const std::string name = name_of(fd);
		const auto stream = ws::require_file_stream(host(), fd, name);
		ws_file_info answer{};

		if (stream)
			answer = {.flags = WS_FILE_STREAM | (stream->homed ? WS_FILE_HOMED : 0) |
					   (stream->missed ? WS_FILE_MISSED : 0) |
					   (stream->anchored ? WS_FILE_ANCHORED : 0),
				  .stream = stream->id,
				  .home_ag = stream->home_ag,
				  .reserved = 0};
		return give(answer, info, size, "ws_file_get_info");
	});
}

const char *ws_last_error(void)
{
	return last_error.text.c_str();
}

const char *ws_last_advice(void)
{
	return last_error.advice.c_str();
}

int ws_last_errno(void)
{
	return last_error.code;
}

const char *ws_version(void)
{
	return WSFS_VERSION;
}
