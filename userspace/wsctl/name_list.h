// SPDX-License-Identifier: GPL-2.0
// Names of files in a list, as "find -print" or "find -print0" writes it.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

namespace wsctl
{

class NameList
{
public:
	// @source is what messages call the list. Names end with a NUL byte or
	// else with a newline; the last end may be missing.
	NameList(std::istream &in, std::string source, bool null)
	    : in_(in), source_(std::move(source)), null_(null)
	{
	}

	// Empty ones are passed over. Throws ws::Error where the list cannot be
	// read, or is none.
	std::optional<std::string> next();

private:
	std::istream &in_;
	std::string source_;
	bool null_;
	std::uint64_t number_ = 0;
};

} // namespace wsctl
