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
	object["anchored"] = stream->anchored;
	return object;
}

void describe(const Context &context, const std::string &path,
	      const std::optional<ws::FileStream> &stream, std::string_view none)
{
	if (!stream) {
		context.out << escape(path) << ": " << none << '\n';
		return;
	}
	const char *place = "not placed yet, wanted in";
	if (stream->homed)
		place = "home in";
	else if (stream->anchored)
		place = "new data goes to";
	context.out << fmt::format("{}: stream {}, {} AG {}{}\n", escape(path), stream->id, place,
				   stream->home_ag,
				   stream->homed && stream->missed ? ", has data elsewhere" : "");
}

std::string descriptor_name(int fd)
{
	return fmt::format("descriptor {}", fd);
}

} // namespace wsctl
