// SPDX-License-Identifier: GPL-2.0
// wsctl bmap: where the data of files lies, and whether that is right.
#include "bmap_table.h"
#include "commands.h"
#include "json.h"
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

void fill_json(Json &entry, const OpenFile &file, const std::vector<BmapRow> &rows)
{
	entry["filesystem"] = file.filesystem.type == ws::Filesystem::Type::wsfs ? "wsfs" : "xfs";
	entry["realtime"] = file.shape.realtime;
	entry["stream"] = stream_json(file);
	Json &list = entry["extents"] = Json::array();
	for (const BmapRow &row : rows)
		list.push_back(row_json(row));
}

} // namespace

int bmap(const Context &context, const BmapOptions &options)
{
	Opener opener(context.host);
	Json document = json_document(context);
	Json &list = document["files"] = Json::array();
	int status = exit_ok;

	for (const std::string &path : options.files) {
		Json entry = Json::object();

		json_name(entry, "path", path);
		try {
			const OpenFile file = opener.open(path);
			std::vector<BmapRow> rows;

			ws::walk_extents(context.host, file.fd.get(), path, file.shape,
					 [&](const ws::Extent &extent) {
						 rows.push_back(make_row(file, extent));
					 });
			if (options.json)
				fill_json(entry, file, rows);
			else if (rows.empty())
				context.out << escape(path) << ": no extents\n";
			else
				write_table(context, file, rows);
			entry["error"] = Json();
		} catch (const ws::Error &error) {
			context.report(error);
			entry["error"] = json_error(error);
			status = exit_failed;
		}
		if (options.json)
			list.push_back(std::move(entry));
	}
	if (options.json)
		write_json(context.out, document);
	else if (options.legend)
		write_legend(context.out);
	return status;
}

} // namespace wsctl
