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

std::string more(std::uint64_t count, std::string_view noun)
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

void Survey::add(const FileResult &file)
{
	if (!file.group)
		return;
	groups_.insert(*file.group);
	for (const auto &[agno, extent] : file.held)
		holders_[{file.device, agno}].emplace(*file.group, file.path);
}

void Survey::find_shared(FileResult &file) const
{
	if (!file.group)
		return;
	for (const auto &[agno, extent] : file.held) {
		const auto place = holders_.find({file.device, agno});

		if (place == holders_.end())
			continue;
		for (const auto &[group, path] : place->second) {
			if (group == *file.group)
				continue;
			file.shared.push_back({.agno = agno,
					       .extent = extent,
					       .other = group,
					       .other_path = path});
			break;
		}
	}
}

std::vector<std::string> failure_texts(const FileResult &file)
{
	std::vector<std::string> texts;

	if (!file.strays.empty()) {
		const StrayExtent &first = file.strays.front();

		texts.push_back(fmt::format("{} in AG {}, expected AGs {} of stream {}{}",
					    extent_text(first.extent),
					    first.agno ? fmt::format("{}", *first.agno) : "?",
					    file.expected.value_or("-"), file.stream.value_or(0),
					    more(file.stray_count, "extent")));
	}
	if (!file.shared.empty()) {
		const SharedAg &first = file.shared.front();

		texts.push_back(fmt::format("{} in AG {}, expected no AG with data of {}: {}{}",
					    extent_text(first.extent), first.agno,
					    first.other.name(), escape(first.other_path),
					    more(file.shared.size(), "AG")));
	}
	if (file.max_extents)
		texts.push_back(fmt::format("{}, expected at most {}",
					    plural(file.extents, "extent"), *file.max_extents));
	return texts;
}

void write_failures(const Context &context, const FileResult &file)
{
	for (const std::string &text : failure_texts(file))
		context.out << context.alarm(escape(file.path)) << ": " << text << '\n';
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
	object["stray_extents"] = file.stray_count;
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
