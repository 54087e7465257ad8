// SPDX-License-Identifier: GPL-2.0
// wsctl map: which stream's data lies in which AG.
#include <map>
#include <tuple>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "ag_map.h"
#include "commands.h"
#include "json_writer.h"
#include "progress.h"
#include "scan.h"
#include "text.h"

namespace wsctl
{

namespace
{

constexpr std::uint64_t told_errors = 1000;

// What one file has where.
struct FileCells {
	dev_t device = 0;
	std::string title;
	ws::Groups ags;
	std::optional<std::uint32_t> stream;
	std::optional<ws::AgSet> ag_set;
	bool realtime = false;
	MapCells cells;
};

FileCells look_at(const Context &context, const OpenFile &file)
{
	const ws::Filesystem &filesystem = file.filesystem;
	FileCells found;

	found.device = filesystem.device;
	found.title = filesystem.dev.empty() ? "xfs" : "wsfs on " + filesystem.dev;
	found.ags = filesystem.geometry.ags;
	found.realtime = file.shape.realtime;
	if (file.stream) {
		found.stream = file.stream->id;
		found.ag_set = file.ag_set(file.stream->id);
	}
	if (found.realtime)
		return found;
	ws::walk_extents(context.host, file.fd.get(), file.path, file.shape,
			 [&](const ws::Extent &extent) {
				 const auto agno = file.group_of(extent);

				 if (!agno)
					 return;
				 MapCell &cell = found.cells[*agno];
				 cell.sectors += extent.length;
				 cell.extents++;
			 });
	return found;
}

class Mapper
{
public:
	Mapper(const Context &context, const MapOptions &options)
	    : context_(context), options_(options), progress_(context.err, context.progress, "file")
	{
	}

	int run();

private:
	// Streams first, then what carries none.
	using Key = std::tuple<bool, std::uint64_t>;

	struct Filesystem {
		std::string title;
		ws::Groups ags;
		std::map<Key, MapRow> rows;
	};

	void add(std::size_t operand, FileCells &&found);
	MapRow &row_of(Filesystem &filesystem, std::size_t operand, const FileCells &found) const;
	void failed(const ws::Error &error);
	[[nodiscard]] std::vector<AgMap> maps() const;
	void write(const std::vector<AgMap> &maps);

	const Context &context_;
	const MapOptions &options_;
	Progress progress_;
	std::map<dev_t, Filesystem> filesystems_;
	std::uint64_t realtime_ = 0;
	std::uint64_t error_count_ = 0;
	Json errors_ = Json::array();
};

MapRow &Mapper::row_of(Filesystem &filesystem, std::size_t operand, const FileCells &found) const
{
	const bool by_stream = found.stream && !options_.by_operand;
	const Key key = by_stream ? Key{false, *found.stream}
				  : Key{true, options_.by_operand ? operand : 0};
	const auto [entry, fresh] = filesystem.rows.try_emplace(key);
	MapRow &row = entry->second;

	if (!fresh)
		return row;
	if (by_stream) {
		row.label = fmt::format("stream {}", *found.stream);
		row.stream = found.stream;
		row.ag_set = found.ag_set;
	} else {
		row.label = options_.by_operand ? options_.files[operand] : "no stream";
	}
	return row;
}

void Mapper::add(std::size_t operand, FileCells &&found)
{
	const auto [entry, fresh] = filesystems_.try_emplace(found.device);
	Filesystem &filesystem = entry->second;

	if (found.realtime) {
		realtime_++;
		return;
	}
	if (fresh || filesystem.title.empty()) {
		filesystem.title = found.title;
		filesystem.ags = found.ags;
	}
	MapRow &row = row_of(filesystem, operand, found);
	row.files++;
	for (const auto &[agno, cell] : found.cells) {
		MapCell &sum = row.cells[agno];

		sum.sectors += cell.sectors;
		sum.extents += cell.extents;
		sum.files++;
	}
}

void Mapper::failed(const ws::Error &error)
{
	progress_.hide();
	context_.report(error);
	if (error_count_++ < told_errors)
		errors_.push_back(json_error(error));
}

std::vector<AgMap> Mapper::maps() const
{
	std::vector<AgMap> maps;

	for (const auto &[device, filesystem] : filesystems_) {
		AgMap map{.title = filesystem.title, .ags = filesystem.ags, .rows = {}};

		for (const auto &[key, row] : filesystem.rows)
			map.rows.push_back(row);
		if (!map.rows.empty())
			maps.push_back(std::move(map));
	}
	return maps;
}

std::size_t terminal_columns()
{
	constexpr std::size_t usual = 80;
	winsize size{};

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
									       : usual;
}

void Mapper::write(const std::vector<AgMap> &maps)
{
	constexpr std::size_t pipe_columns = 100;

	if (!options_.json) {
		for (const AgMap &map : maps)
			write_map(context_.out, map,
				  context_.terminal ? terminal_columns() : pipe_columns,
				  context_.colour);
		if (maps.empty() && error_count_ == 0)
			context_.out << "no files\n";
		if (realtime_ != 0)
			context_.out << plural(realtime_, "realtime file")
				     << " left out: realtime data lies in no AG\n";
	}
	if (options_.svg.empty() && options_.png.empty())
		return;
	if (maps.size() != 1)
		throw ws::Error(options_.svg.empty() ? options_.png : options_.svg,
				maps.empty() ? "there is nothing to draw"
					     : "there is more than one filesystem to draw",
				"name files of one filesystem");
	const Drawing drawing = draw_map(maps.front());
	if (!options_.svg.empty())
		write_svg(options_.svg, drawing);
	if (!options_.png.empty())
		write_png(options_.png, drawing);
}

int Mapper::run()
{
	std::vector<Operand> operands;

	operands.reserve(options_.files.size());
	for (std::size_t i = 0; i < options_.files.size(); i++)
		operands.push_back({.path = options_.files[i], .group = i});
	scan<FileCells>(
		context_, std::move(operands), progress_,
		[this](const FoundFile &, OpenFile &&open) { return look_at(context_, open); },
		[this](const FoundFile &file, FileCells &&found) {
			add(file.group, std::move(found));
		},
		[this](const ws::Error &error) { failed(error); });

	const std::vector<AgMap> all = maps();
	try {
		write(all);
	} catch (const ws::Error &error) {
		failed(error);
	}
	if (options_.json) {
		Json document = json_document(context_);

		Json &list = document["filesystems"] = Json::array();
		for (const AgMap &map : all)
			list.push_back(map_json(map));
		document["realtime_files"] = realtime_;
		document["errors"] = errors_;
		document["errors_left_out"] = error_count_ - errors_.size();
		write_json(context_.out, document);
	}
	return error_count_ == 0 ? exit_ok : exit_failed;
}

} // namespace

int map(const Context &context, const MapOptions &options)
{
	return Mapper(context, options).run();
}

} // namespace wsctl
