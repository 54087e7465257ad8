// SPDX-License-Identifier: GPL-2.0
// What set and get tell of a file's stream.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ws/file_stream.h>

#include "context.h"
#include "json.h"

namespace wsctl
{

// Null where there is none.
Json file_stream_json(const std::optional<ws::FileStream> &stream);
// One line; @none in place of a stream where there is none.
void describe(const Context &context, const std::string &path,
	      const std::optional<ws::FileStream> &stream, std::string_view none);
// What an open descriptor that we were given is called.
std::string descriptor_name(int fd);

} // namespace wsctl
