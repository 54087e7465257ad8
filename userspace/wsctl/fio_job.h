// SPDX-License-Identifier: GPL-2.0
// fio job files: the part of their form that the files of "wsctl fio gen" use.
//
// What wsctl wants to know beside fio stands in comments, so that plain fio
// runs the same file:
//	; wsctl: streams=4	before the first section: how many to reserve
//	; wsctl: stream=0	in a section: whose slot its files get
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wsctl
{

constexpr std::uint32_t fio_max_streams = 1024;
constexpr std::uint32_t fio_max_files = 16384; // of one section

using FioOptions = std::vector<std::pair<std::string, std::string>>;

// Null where there is no such option.
const std::string *find_option(const FioOptions &options, std::string_view name) noexcept;
// Replaces the option's value, or adds the option.
void set_option(FioOptions &options, const std::string &name, const std::string &value);

struct FioSection {
	std::string name;
	FioOptions options; // no value: empty
	std::optional<std::uint32_t> stream;
};

struct FioJob {
	std::vector<std::string> comments; // at the top
	std::uint32_t streams = 0;
	std::vector<FioSection> sections; // "global" ones too
};

std::string format(const FioJob &job);
// @path is for messages. Throws ws::Error.
FioJob parse_fio_job(std::string_view text, const std::string &path);
// "8g", "4k", "4096" in bytes, as fio reads them; nothing for what it is not.
std::optional<std::uint64_t> parse_fio_size(std::string_view text);

} // namespace wsctl
