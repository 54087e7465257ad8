// SPDX-License-Identifier: GPL-2.0
#include "check_result.h"

#include <fmt/format.h>

#include "text.h"

namespace wsctl
{

namespace
{

std::string extent_text(const ws::Extent &extent)
{
	return fmt::format("extent {} [{}..{}]", extent.index, extent.offset,
			   extent.offset + extent.length - 1);
}

std::string more(std::size_t count, std::string_view noun)
{
	return count > 1 ? fmt::format(" (and {} more)", plural(count - 1, noun)) : "";
}

Json extent_json(const ws::Extent &extent, std::optional<std::uint32_t> agno)
{
	Json object = Json::object();

	object["index"] = extent.index;
	object["offset"] = extent.offset;
	object["length"] = extent.length;
	object["block"] = extent.sector ? Json(*extent.sector) : Json();
	object["ag"] = agno ? Json(*agno) : Json();
	return object;
}

} // namespace

std::string FileGroup::name() const
{
	return fmt::format("{} {}", device == 0 ? "group" : "stream", number);
}

std::size_t find_shared(std::vector<FileResult> &files)
{
	using Place = std::pair<dev_t, std::uint32_t>;
	std::map<Place, std::map<FileGroup, const FileResult *>> holders;
	std::map<FileGroup, int> groups;

	for (const FileResult &file : files) {
		if (!file.group)
			continue;
		groups[*file.group]++;
		for (const auto &[agno, extent] : file.held)
			holders[{file.device, agno}].emplace(*file.group, &file);
	}
	for (FileResult &file : files) {
		if (!file.group)
			continue;
		for (const auto &[agno, extent] : file.held) {
			for (const auto &[group, other] : holders[{file.device, agno}]) {
				if (group == *file.group)
					continue;
				file.shared.push_back({.agno = agno,
						       .extent = extent,
						       .other = group,
						       .other_path = other->path});
				break;
			}
		}
	}
	return groups.size();
}

void write_failures(const Context &context, const FileResult &file)
{
	const std::string name = context.alarm(escape(file.path));
	std::ostream &out = context.out;

	if (!file.strays.empty()) {
		const StrayExtent &first = file.strays.front();

		out << fmt::format("{}: {} in AG {}, expected AGs {} of stream {}{}\n", name,
				   extent_text(first.extent),
				   first.agno ? fmt::format("{}", *first.agno) : "?",
				   file.expected.value_or("-"), file.stream.value_or(0),
				   more(file.strays.size(), "extent"));
	}
	if (!file.shared.empty()) {
		const SharedAg &first = file.shared.front();

		out << fmt::format("{}: {} in AG {}, expected no AG with data of {}: {}{}\n", name,
				   extent_text(first.extent), first.agno, first.other.name(),
				   escape(first.other_path), more(file.shared.size(), "AG"));
	}
	if (file.max_extents)
		out << fmt::format("{}: {}, expected at most {}\n", name,
				   plural(file.extents, "extent"), *file.max_extents);
}

Json result_json(const FileResult &file)
{
	Json object = Json::object();

	json_name(object, "path", file.path);
	object["result"] = !file.checked ? "unchecked" : file.failed() ? "failed" : "ok";
	object["stream"] = file.stream ? Json(*file.stream) : Json();
	object["expected"] = file.expected ? Json(*file.expected) : Json();
	object["group"] = file.group ? Json(file.group->name()) : Json();
	object["extents"] = file.extents;
	object["max_extents"] = file.max_extents ? Json(*file.max_extents) : Json();
	Json &strays = object["strays"] = Json::array();
	for (const StrayExtent &stray : file.strays)
		strays.push_back(extent_json(stray.extent, stray.agno));
	Json &shared = object["shared"] = Json::array();
	for (const SharedAg &place : file.shared) {
		Json entry = extent_json(place.extent, place.agno);

		entry["with"] = place.other.name();
		json_name(entry, "with_path", place.other_path);
		shared.push_back(std::move(entry));
	}
	return object;
}

} // namespace wsctl
