// SPDX-License-Identifier: GPL-2.0
// wsctl bmap: where the data of files lies, and whether that is right.
#include <algorithm>
#include <functional>

#include "bmap_table.h"
#include "commands.h"
#include "json_writer.h"
#include "progress.h"
#include "scan.h"
#include "text.h"

namespace wsctl
{

namespace
{

Json stream_json(const OpenFile &file)
{
	Json object = Json::object();

	if (!file.stream)
		return {};
	object["id"] = file.stream->id;
	object["ag_set"] = file.ag_set(file.stream->id).str();
	object["home_ag"] = file.stream->home_ag;
	object["homed"] = file.stream->homed;
	object["missed"] = file.stream->missed;
	object["anchored"] = file.stream->anchored;
	return object;
}

Json verdict_json(Verdict verdict)
{
	if (verdict == Verdict::none)
		return {};
	return verdict == Verdict::ok ? "ok" : "stray";
}

Json row_json(const BmapRow &row)
{
	const bool hole = !row.extent.sector;
	Json object = Json::object();

	object["index"] = row.extent.index;
	object["hole"] = hole;
	object["offset"] = row.extent.offset;
	object["length"] = row.extent.length;
	object["block"] = hole ? Json() : Json(*row.extent.sector);
	object["ag"] = row.group ? Json(*row.group) : Json();
	object["ag_offset"] = row.group ? Json(row.group_offset) : Json();
	object["unwritten"] = row.extent.unwritten;
	object["shared"] = row.extent.shared;
	object["flags"] = row.flags;
	object["owners"] = row.owners;
	object["place"] = verdict_json(row.verdict);
	return object;
}

// Files with more rows are gone through again, rather than remembered.
constexpr std::size_t remembered_rows = 256;

struct Mapped {
	OpenFile file;
	std::vector<BmapRow> rows;
	bool more = false; // than these rows
};

using VisitRow = std::function<void(const BmapRow &)>;

void walk_rows(const Context &context, const OpenFile &file, const VisitRow &visit)
{
	ws::walk_extents(context.host, file.fd.get(), file.path, file.shape,
			 [&](const ws::Extent &extent) { visit(make_row(file, extent)); });
}

Mapped map_file(const Context &context, OpenFile &&file)
{
	Mapped mapped{.file = std::move(file), .rows = {}};

	walk_rows(context, mapped.file, [&](const BmapRow &row) {
		mapped.more = mapped.rows.size() == remembered_rows;
		if (!mapped.more)
			mapped.rows.push_back(row);
	});
	return mapped;
}

void each_row(const Context &context, const Mapped &mapped, const VisitRow &visit)
{
	if (mapped.more)
		walk_rows(context, mapped.file, visit);
	else
		std::ranges::for_each(mapped.rows, visit);
}

void write_text(const Context &context, const Mapped &mapped)
{
	BmapTable table(context, mapped.file);

	if (mapped.rows.empty()) {
		context.out << escape(mapped.file.path) << ": no extents\n";
		return;
	}
	each_row(context, mapped, [&](const BmapRow &row) { table.fit(row); });
	table.write_head();
	each_row(context, mapped, [&](const BmapRow &row) { table.write(row); });
}

// False where the extents could not be told in full.
bool write_members(JsonWriter &json, const Context &context, const Mapped &mapped)
{
	const OpenFile &file = mapped.file;

	json.member("filesystem",
		    file.filesystem.type == ws::Filesystem::Type::wsfs ? "wsfs" : "xfs");
	json.member("realtime", file.shape.realtime);
	json.member("stream", stream_json(file));
	json.begin_array("extents");
	// What is open has to be closed before an error is written.
	std::optional<ws::Error> error;
	try {
		each_row(context, mapped, [&](const BmapRow &row) { json.element(row_json(row)); });
	} catch (const ws::Error &thrown) {
		context.report(thrown);
		error = thrown;
	}
	json.end();
	json.member("error", error ? json_error(*error) : Json());
	return !error;
}

Json name_json(const std::string &path)
{
	Json entry = Json::object();

	json_name(entry, "path", path);
	return entry;
}

} // namespace

int bmap(const Context &context, const BmapOptions &options)
{
	Progress progress(context.err, context.progress && !context.terminal, "file");
	JsonWriter json(context.out);
	int status = exit_ok;
	const auto failed = [&](const ws::Error &error) {
		status = exit_failed;
		progress.hide();
		context.report(error);
		if (!options.json)
			return;
		json.begin_object();
		json.members(name_json(error.path()));
		json.member("error", json_error(error));
		json.end();
	};
	const auto found = [&](const FoundFile &file, Mapped &&mapped) {
		if (options.json) {
			json.begin_object();
			json.members(name_json(file.path));
			if (!write_members(json, context, mapped))
				status = exit_failed;
			json.end();
			return;
		}
		try {
			write_text(context, mapped);
		} catch (const ws::Error &error) {
			failed(error); // the second time through
		}
	};
	std::vector<Operand> operands;

	operands.reserve(options.files.size());
	for (const std::string &path : options.files)
		operands.push_back({.path = path});
	if (options.json) {
		begin_document(json, context);
		json.begin_array("files");
	}
	scan<Mapped>(
		context, std::move(operands), progress,
		[&](const FoundFile & /*file*/, OpenFile &&open) {
			return map_file(context, std::move(open));
		},
		found, failed);
	if (options.json) {
		json.end();
		json.end();
	} else if (options.legend) {
		write_legend(context.out);
	}
	return status;
}

} // namespace wsctl
