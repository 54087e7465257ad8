// SPDX-License-Identifier: GPL-2.0
#include "file_text.h"

#include <fmt/format.h>

#include "text.h"

namespace wsctl
{

Json file_stream_json(const std::optional<ws::FileStream> &stream)
{
	Json object = Json::object();

	if (!stream)
		return {};
	object["id"] = stream->id;
	object["home_ag"] = stream->home_ag;
	object["homed"] = stream->homed;
	object["missed"] = stream->missed;
	return object;
}

void describe(const Context &context, const std::string &path,
	      const std::optional<ws::FileStream> &stream, std::string_view none)
{
	context.out << escape(path) << ": ";
	if (!stream)
		context.out << none << '\n';
	else
		context.out << fmt::format(
			"stream {}, {} AG {}{}\n", stream->id,
			stream->homed ? "home in" : "not placed yet, wanted in", stream->home_ag,
			stream->homed && stream->missed ? ", has data elsewhere" : "");
}

std::string descriptor_name(int fd)
{
	return fmt::format("descriptor {}", fd);
}

} // namespace wsctl
