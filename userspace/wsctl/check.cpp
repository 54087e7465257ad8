// SPDX-License-Identifier: GPL-2.0
// wsctl check: is all data where it should be?
#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "check_result.h"
#include "commands.h"
#include "json_writer.h"
#include "junit.h"
#include "placement.h"
#include "progress.h"
#include "scan.h"
#include "spread.h"
#include "text.h"

namespace wsctl
{

namespace
{

// What a document tells of each file and of errors at most.
constexpr std::size_t told_strays = 1000;
constexpr std::size_t told_errors = 1000;

class Checker
{
public:
	Checker(const Context &context, const CheckOptions &options)
	    : context_(context), options_(options),
	      progress_(context.err, context.progress, "file"), json_(context.out)
	{
	}

	int run();

private:
	using Found = std::function<void(const FoundFile &, FileResult &&)>;
	using Failed = std::function<void(const ws::Error &)>;

	void parse_file_streams();
	[[nodiscard]] std::vector<Operand> operands() const;
	void each_file(const Found &found, const Failed &failed);
	[[nodiscard]] FileResult look_at(const OpenFile &file, std::size_t group) const;
	void examine(const OpenFile &file, FileResult &result) const;
	[[nodiscard]] std::optional<std::uint32_t> stream_of(const OpenFile &file) const;
	[[nodiscard]] std::optional<FileGroup> group_of(const FileResult &file,
							std::size_t group) const;
	void check();
	void judge(FileResult &&result);
	void judge_spread();
	void report(const ws::Error &error);
	void write_summary() const;
	void write_end();

	[[nodiscard]] bool grouped() const noexcept { return options_.groups.size() > 1; }
	[[nodiscard]] bool right() const noexcept { return failed_ == 0 && uneven_ == 0; }

	const Context &context_;
	const CheckOptions &options_;
	Progress progress_;
	JsonWriter json_;
	std::optional<JunitFile> junit_;
	std::map<std::string, std::uint32_t> file_streams_;
	Survey survey_;
	SpreadCount spread_;
	Json spreads_ = Json::array();
	std::uint64_t checked_ = 0;
	std::uint64_t failed_ = 0;
	std::uint64_t unchecked_ = 0;
	std::uint64_t extents_ = 0;
	std::uint64_t uneven_ = 0;
	std::uint64_t error_count_ = 0;
	Json errors_ = Json::array();
};

void Checker::parse_file_streams()
{
	for (const std::string &text : options_.file_streams) {
		const auto [path, id] = parse_file_stream(text);

		file_streams_[path] = id;
	}
}

std::vector<Operand> Checker::operands() const
{
	std::vector<Operand> list;

	for (const auto &[path, id] : file_streams_) {
		const bool named = std::ranges::any_of(options_.groups, [&](const auto &group) {
			return std::ranges::find(group, path) != group.end();
		});

		if (!named)
			list.push_back({.path = path});
	}
	for (std::size_t group = 0; group < options_.groups.size(); group++) {
		for (const std::string &path : options_.groups[group])
			list.push_back({.path = path, .group = group});
	}
	return list;
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
	if (file.shape.realtime && (expected || result.group || options_.spread))
		throw ws::Error(file.path, "is a realtime file, whose data lies in no AG",
				"check files of the data device");
	ws::walk_extents(context_.host, file.fd.get(), file.path, file.shape,
			 [&](const ws::Extent &extent) {
				 const auto agno = file.group_of(extent);

				 if (!extent.sector)
					 return;
				 if (result.extents++ == 0)
					 result.begins = agno;
				 if (expected && (!agno || !expected->contains(*agno)) &&
				     result.stray_count++ < told_strays)
					 result.strays.push_back({.extent = extent, .agno = agno});
				 if (result.group && agno)
					 result.held.emplace(*agno, extent);
			 });
	if (options_.max_extents && result.extents > *options_.max_extents)
		result.max_extents = options_.max_extents;
	result.checked = expected || result.group || options_.max_extents || options_.spread;
}

FileResult Checker::look_at(const OpenFile &file, std::size_t group) const
{
	FileResult result;

	result.path = file.path;
	result.device = file.filesystem.device;
	result.stream = stream_of(file);
	if (options_.isolated)
		result.group = group_of(result, group);
	examine(file, result);
	if (options_.spread) {
		const auto own = group_of(result, group);

		result.spread_key = {.device = result.device, .group = own.value_or(FileGroup{})};
		result.spread_name = own ? own->name() : "files";
		if (result.stream && !grouped())
			result.spread_set = file.ag_set(*result.stream);
		else if (file.filesystem.geometry.ags.count > 0)
			result.spread_set = ws::AgSet::up_to(file.filesystem.geometry.ags.count);
	}
	return result;
}

void Checker::each_file(const Found &found, const Failed &failed)
{
	scan<FileResult>(
		context_, operands(), progress_,
		[this](const FoundFile &file, OpenFile &&open) {
			return look_at(open, file.group);
		},
		found, failed);
}

void Checker::report(const ws::Error &error)
{
	progress_.hide();
	context_.report(error);
	if (error_count_++ < told_errors)
		errors_.push_back(json_error(error));
	if (junit_)
		junit_->error(error.path(), error.reason());
}

void Checker::judge(FileResult &&result)
{
	if (options_.isolated)
		survey_.find_shared(result);
	if (options_.spread && result.begins)
		spread_.add(result.spread_key, result.spread_name, result.spread_set,
			    *result.begins);
	if (result.checked) {
		checked_++;
		extents_ += result.extents;
	} else {
		unchecked_++;
	}
	if (result.failed())
		failed_++;
	if (options_.json) {
		json_.element(result_json(result));
	} else if (result.failed()) {
		progress_.hide();
		write_failures(context_, result);
	}
	if (!junit_)
		return;
	if (!result.checked)
		junit_->skipped(result.path, "the file carries no stream");
	else if (result.failed())
		junit_->failed(result.path, failure_texts(result));
	else
		junit_->passed(result.path);
}

void Checker::judge_spread()
{
	const std::uint64_t tolerance = options_.spread.value_or(1);

	for (const Spread &spread : spread_.judge(tolerance)) {
		spreads_.push_back(spread.json());
		if (junit_ && spread.ok)
			junit_->passed("spread of " + spread.group);
		if (spread.ok)
			continue;
		uneven_++;
		const std::string text = spread.text(tolerance);
		if (junit_)
			junit_->failed("spread of " + spread.group, {text});
		if (!options_.json)
			context_.out << context_.alarm(spread.group) << ": " << text << '\n';
	}
}

void Checker::check()
{
	if (options_.isolated) {
		// The first time through, to know who is where; the errors are
		// those of the second.
		std::uint64_t errors = 0;

		each_file([this](const FoundFile &, FileResult &&result) { survey_.add(result); },
			  [&](const ws::Error &) { errors++; });
		if (survey_.groups() < 2 && errors == 0)
			throw ws::Error(
				"--isolated", "there are no two groups of files to tell apart",
				"name files with different streams, or groups: --isolated A.. -- "
				"B..");
	}
	each_file([this](const FoundFile &, FileResult &&result) { judge(std::move(result)); },
		  [this](const ws::Error &error) { report(error); });
	if (options_.spread)
		judge_spread();
	if (checked_ == 0 && error_count_ == 0)
		throw ws::Error(options_.groups.empty() ? file_streams_.begin()->first
							: options_.groups.front().front(),
				fmt::format("nothing to check: none of {} carries a stream",
					    plural(unchecked_, "file")),
				"say what to expect: --within ID, --stream FILE=ID, "
				"--isolated A.. -- B.., --spread or --max-extents N");
}

void Checker::write_summary() const
{
	if (options_.quiet)
		return;
	const auto checked = plural(checked_, "file");
	context_.out << (failed_ == 0 ? fmt::format("{}: {}, {}", right() ? "ok" : "uneven",
						    checked, plural(extents_, "extent"))
				      : fmt::format("failed: {} of {}", failed_, checked));
	if (unchecked_ != 0)
		context_.out << fmt::format("; {} without a stream not checked",
					    plural(unchecked_, "file"));
	context_.out << '\n';
}

void Checker::write_end()
{
	if (options_.json) {
		json_.end();
		json_.member("ok", error_count_ == 0 && right());
		json_.member("checked", checked_);
		json_.member("failed", failed_);
		json_.member("unchecked", unchecked_);
		json_.member("spread", options_.spread ? spreads_ : Json());
		json_.member("errors", errors_);
		json_.member("errors_left_out", error_count_ - errors_.size());
		json_.end();
	} else if (error_count_ == 0 || !right()) {
		write_summary();
	}
	if (junit_)
		junit_->finish();
}

int Checker::run()
{
	if (!options_.junit.empty()) {
		try {
			junit_.emplace(options_.junit);
		} catch (const ws::Error &error) {
			context_.report(error);
			return exit_check_error;
		}
	}
	if (options_.json) {
		begin_document(json_, context_);
		json_.begin_array("files");
	}
	try {
		parse_file_streams();
		check();
	} catch (const ws::Error &error) {
		report(error);
	}
	try {
		write_end();
	} catch (const ws::Error &error) {
		context_.report(error); // of the JUnit file
		return exit_check_error;
	}
	if (error_count_ != 0)
		return exit_check_error;
	return right() ? exit_ok : exit_failed;
}

} // namespace

int check(const Context &context, const CheckOptions &options)
{
	return Checker(context, options).run();
}

} // namespace wsctl
