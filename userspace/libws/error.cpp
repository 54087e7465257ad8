// SPDX-License-Identifier: GPL-2.0
#include <ws/error.h>

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace ws
{

namespace
{

std::string reason_of(const std::string &call, int code)
{
	const char *text = strerrordesc_np(code);

	return fmt::format("{}: {} ({})", call, text ? text : "unknown error", errno_name(code));
}

} // namespace

Error::Error(std::string path, const std::string &call, int code)
    : Error(std::move(path), call, code, advice_for(call, code))
{
}

Error::Error(std::string path, std::string call, int code, std::string advice)
    : std::runtime_error(path + ": " + reason_of(call, code)), path_(std::move(path)),
      call_(std::move(call)), code_(code), reason_(reason_of(call_, code)),
      advice_(std::move(advice))
{
}

Error::Error(std::string path, const std::string &problem, std::string advice)
    : std::runtime_error(path + ": " + problem), path_(std::move(path)), reason_(problem),
      advice_(std::move(advice))
{
}

std::string errno_name(int code)
{
	const char *name = strerrorname_np(code);

	return name ? name : fmt::format("errno {}", code);
}

} // namespace ws
