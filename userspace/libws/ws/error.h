// SPDX-License-Identifier: GPL-2.0
// What failed, on which path, why, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ws
{

class Error : public std::runtime_error
{
public:
	// A call that failed with an errno. The advice is looked up.
	Error(std::string path, const std::string &call, int code);
	// The same with advice that only the caller can give.
	Error(std::string path, std::string call, int code, std::string advice);
	// Something that is wrong without an errno, such as a malformed file.
	Error(std::string path, const std::string &problem, std::string advice);

	[[nodiscard]] const std::string &path() const noexcept { return path_; }
	[[nodiscard]] const std::string &call() const noexcept { return call_; }
	[[nodiscard]] int code() const noexcept { return code_; }
	[[nodiscard]] const std::string &advice() const noexcept { return advice_; }
	// Why, without the path: "open: No such file or directory (ENOENT)".
	[[nodiscard]] const std::string &reason() const noexcept { return reason_; }

private:
	std::string path_;
	std::string call_;
	int code_ = 0;
	std::string reason_;
	std::string advice_;
};

// "ENOSPC"; the number where libc knows no name.
std::string errno_name(int code);
// What a user can do where @call failed with @code; empty if nothing is known.
std::string advice_for(std::string_view call, int code);

} // namespace ws
