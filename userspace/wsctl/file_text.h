// SPDX-License-Identifier: GPL-2.0
// What set and get tell of the stream of a file or directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ws/dir_place.h>
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
// Of a directory, where its new files are made; members "directory", "born" and
// "stream".
void add_births_json(Json &entry, const ws::DirBirths &births);
// "files made in it are born in stream 1"
std::string births_text(const ws::DirBirths &births);
// What an open descriptor that we were given is called.
std::string descriptor_name(int fd);

} // namespace wsctl
