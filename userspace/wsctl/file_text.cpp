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

void add_births_json(Json &entry, const ws::DirBirths &births)
{
	const auto name = [&]() -> std::string_view {
		switch (births.place) {
		case ws::DirPlace::near:
			return "near";
		case ws::DirPlace::spread:
			return "spread";
		case ws::DirPlace::spread_free:
			return "spread_free";
		case ws::DirPlace::stream:
			return "stream";
		case ws::DirPlace::by_mount:
			break;
		}
		return "default";
	};

	entry["directory"] = true;
	entry["born"] = name();
	entry["stream"] = Json();
	if (births.stream) {
		entry["stream"] = Json::object();
		entry["stream"]["id"] = *births.stream;
	}
}

std::string births_text(const ws::DirBirths &births)
{
	switch (births.place) {
	case ws::DirPlace::near:
		return "files made in it are born near it";
	case ws::DirPlace::spread:
		return "files made in it take turns over all AGs";
	case ws::DirPlace::spread_free:
		return "files made in it take turns over the AGs of no reserved stream";
	case ws::DirPlace::stream:
		return births.stream ? fmt::format("files made in it are born in stream {}",
						   *births.stream)
				     : "its stream is released; files made in it are born as the "
				       "mount says";
	case ws::DirPlace::by_mount:
		break;
	}
	return "files made in it are born as the mount says";
}

std::string descriptor_name(int fd)
{
	return fmt::format("descriptor {}", fd);
}

} // namespace wsctl
