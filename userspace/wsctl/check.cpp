// SPDX-License-Identifier: GPL-2.0
// wsctl check: is all data where it should be?
#include <algorithm>
#include <cerrno>
#include <map>

#include <fmt/format.h>

#include <ws/parse.h>

#include "check_result.h"
#include "commands.h"
#include "placement.h"
#include "text.h"
#include "walk.h"

namespace wsctl
{

namespace
{

class Checker
{
public:
	Checker(const Context &context, const CheckOptions &options)
	    : context_(context), options_(options), opener_(context.host)
	{
	}

	int run();

private:
	void parse_file_streams();
	void check_operand(const std::string &operand, std::size_t group);
	void check_file(const std::string &path, std::size_t group);
	void examine(const OpenFile &file, FileResult &result) const;
	[[nodiscard]] std::optional<std::uint32_t> stream_of(const OpenFile &file) const;
	[[nodiscard]] std::optional<FileGroup> group_of(const FileResult &file,
							std::size_t group) const;
	void check_isolation();
	void report(const ws::Error &error);
	void write_text() const;
	void write_document() const;

	[[nodiscard]] bool grouped() const noexcept { return options_.groups.size() > 1; }
	[[nodiscard]] auto count_if(bool (*test)(const FileResult &)) const
	{
		return static_cast<std::uint64_t>(std::ranges::count_if(files_, test));
	}

	const Context &context_;
	const CheckOptions &options_;
	Opener opener_;
	std::map<std::string, std::uint32_t> file_streams_;
	std::vector<FileResult> files_;
	Json errors_ = Json::array();
};

bool is_checked(const FileResult &file)
{
	return file.checked;
}

bool is_unchecked(const FileResult &file)
{
	return !file.checked;
}

bool is_failed(const FileResult &file)
{
	return file.failed();
}

void Checker::parse_file_streams()
{
	for (const std::string &text : options_.file_streams) {
		const auto equals = text.rfind('=');
		const auto id = equals == std::string::npos
					? std::nullopt
					: ws::parse_id(std::string_view(text).substr(equals + 1));

		if (!id || equals == 0)
			throw ws::Error(text, "is not of the form FILE=ID",
					"name a file and a stream's id, as in --stream a.dat=2");
		file_streams_[text.substr(0, equals)] = *id;
	}
}

std::optional<std::uint32_t> Checker::stream_of(const OpenFile &file) const
{
	const auto named = file_streams_.find(file.path);

	if (named != file_streams_.end())
		return named->second;
	if (options_.within)
		return options_.within;
	return file.stream ? std::optional(file.stream->id) : std::nullopt;
}

std::optional<FileGroup> Checker::group_of(const FileResult &file, std::size_t group) const
{
	if (!options_.isolated)
		return std::nullopt;
	if (grouped())
		return FileGroup{.device = 0, .number = group + 1};
	if (file.stream)
		return FileGroup{.device = file.device, .number = *file.stream};
	return std::nullopt;
}

void Checker::examine(const OpenFile &file, FileResult &result) const
{
	const ws::AgSet *expected = result.stream ? &file.ag_set(*result.stream) : nullptr;

	if (expected)
		result.expected = expected->str();
	if (file.shape.realtime && (expected || result.group))
		throw ws::Error(file.path, "is a realtime file, whose data lies in no AG",
				"check files of the data device");
	ws::walk_extents(context_.host, file.fd.get(), file.path, file.shape,
			 [&](const ws::Extent &extent) {
				 const auto agno = file.group_of(extent);

				 if (!extent.sector)
					 return;
				 result.extents++;
				 if (expected && (!agno || !expected->contains(*agno)))
					 result.strays.push_back({.extent = extent, .agno = agno});
				 if (result.group && agno)
					 result.held.emplace(*agno, extent);
			 });
	if (options_.max_extents && result.extents > *options_.max_extents)
		result.max_extents = options_.max_extents;
	result.checked = expected || result.group || options_.max_extents;
}

void Checker::check_file(const std::string &path, std::size_t group)
{
	const OpenFile file = opener_.open(path);
	FileResult result;

	result.path = path;
	result.device = file.filesystem.device;
	result.stream = stream_of(file);
	result.group = group_of(result, group);
	examine(file, result);
	files_.push_back(std::move(result));
}

void Checker::check_operand(const std::string &operand, std::size_t group)
{
	walk_files(
		operand,
		[&](const std::string &path) {
			try {
				check_file(path, group);
			} catch (const ws::Error &error) {
				// Files in a tree come and go.
				if (error.code() != ENOENT || path == operand)
					report(error);
			}
		},
		[&](const ws::Error &error) { report(error); });
}

void Checker::check_isolation()
{
	if (find_shared(files_) < 2 && errors_.empty())
		throw ws::Error(
			"--isolated", "there are no two groups of files to tell apart",
			"name files with different streams, or groups: --isolated A.. -- B..");
}

void Checker::report(const ws::Error &error)
{
	context_.report(error);
	errors_.push_back(json_error(error));
}

void Checker::write_text() const
{
	const auto failed = count_if(is_failed);
	const auto unchecked = count_if(is_unchecked);
	std::uint64_t extents = 0;

	for (const FileResult &file : files_) {
		extents += file.checked ? file.extents : 0;
		write_failures(context_, file);
	}
	if (options_.quiet)
		return;
	const auto checked = plural(count_if(is_checked), "file");
	context_.out << (failed == 0 ? fmt::format("ok: {}, {}", checked, plural(extents, "extent"))
				     : fmt::format("failed: {} of {}", failed, checked));
	if (unchecked != 0)
		context_.out << fmt::format("; {} without a stream not checked",
					    plural(unchecked, "file"));
	context_.out << '\n';
}

void Checker::write_document() const
{
	Json document = json_document(context_);

	document["ok"] = errors_.empty() && count_if(is_failed) == 0;
	document["checked"] = count_if(is_checked);
	document["failed"] = count_if(is_failed);
	document["unchecked"] = count_if(is_unchecked);
	Json &list = document["files"] = Json::array();
	for (const FileResult &file : files_)
		list.push_back(result_json(file));
	document["errors"] = errors_;
	write_json(context_.out, document);
}

int Checker::run()
{
	try {
		parse_file_streams();
		for (const auto &[path, id] : file_streams_) {
			const bool named =
				std::ranges::any_of(options_.groups, [&](const auto &group) {
					return std::ranges::find(group, path) != group.end();
				});

			if (!named)
				check_operand(path, 0);
		}
		for (std::size_t group = 0; group < options_.groups.size(); group++) {
			for (const std::string &operand : options_.groups[group])
				check_operand(operand, group);
		}
		if (options_.isolated)
			check_isolation();
		if (count_if(is_checked) == 0 && errors_.empty())
			throw ws::Error(options_.groups.empty() ? file_streams_.begin()->first
								: options_.groups.front().front(),
					fmt::format("nothing to check: none of {} carries a stream",
						    plural(files_.size(), "file")),
					"say what to expect: --within ID, --stream FILE=ID, "
					"--isolated A.. -- B.. or --max-extents N");
	} catch (const ws::Error &error) {
		report(error);
	}
	if (options_.json)
		write_document();
	else if (errors_.empty() || count_if(is_failed) != 0)
		write_text();
	if (!errors_.empty())
		return exit_check_error;
	return count_if(is_failed) == 0 ? exit_ok : exit_failed;
}

} // namespace

int check(const Context &context, const CheckOptions &options)
{
	return Checker(context, options).run();
}

} // namespace wsctl
