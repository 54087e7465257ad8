// SPDX-License-Identifier: GPL-2.0
// What the fuzz targets have in common.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <sys/ioctl.h>

#include <ws/kernel.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

// Ends the fuzzer: what has to hold does not.
inline void require(bool holds)
{
	if (!holds)
		std::abort();
}

inline std::string_view text_of(const std::uint8_t *data, std::size_t size)
{
	return {reinterpret_cast<const char *>(data), size};
}

// A kernel that answers each ioctl with the next bytes of the input, into the
// argument from @skip on, and then with an errno. Where @argument is 0 the
// request tells its size.
class FuzzKernel final : public ws::Kernel
{
public:
	FuzzKernel(std::string_view input, std::size_t argument, std::size_t skip)
	    : input_(input), argument_(argument), skip_(skip)
	{
	}

	int ioctl(int /*fd*/, unsigned long request, void *argument) noexcept override
	{
		if (input_.empty())
			return -EIO;
		if (static_cast<unsigned char>(input_[0]) == 0xff) {
			input_.remove_prefix(1);
			return -ENOTTY;
		}
		const std::size_t count = std::min(
			input_.size(), (argument_ ? argument_ : _IOC_SIZE(request)) - skip_);

		std::memcpy(static_cast<char *>(argument) + skip_, input_.data(), count);
		input_.remove_prefix(count);
		return 0;
	}
	std::optional<std::uint64_t> mount_id(int /*fd*/) noexcept override { return 1; }

private:
	std::string_view input_;
	std::size_t argument_;
	std::size_t skip_;
};
