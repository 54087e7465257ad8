// SPDX-License-Identifier: GPL-2.0
// wsctl run: a command with streams of its own.
#include <cerrno>
#include <utility>

#include <ws/environment.h>
#include <ws/stream.h>

#include "commands.h"
#include "held.h"
#include "json.h"
#include "process.h"
#include "reserve.h"

namespace wsctl
{

namespace
{

using Streams = std::vector<ws::UniqueFd>;

Streams reserve(const Context &context, const RunOptions &options)
{
	Streams streams;

	for (ws::Stream &stream : reserve_streams(context.host, options.path, options.streams))
		streams.push_back(std::move(stream).take_fd());
	return streams;
}

ChildPlan plan_for(const Context &context, const RunOptions &options, const Streams &streams)
{
	ChildPlan plan{.command = options.command, .keep_open = {}, .environment = {}};
	std::vector<int> ids;

	for (const ws::UniqueFd &stream : streams) {
		plan.keep_open.push_back(stream.get());
		if (const auto info = ws::stream_fdinfo(context.host, stream.get()))
			ids.push_back(static_cast<int>(info->id));
	}
	plan.environment.emplace_back(ws::env_streams, std::to_string(streams.size()));
	plan.environment.emplace_back(ws::env_stream_fds, ws::join_numbers(plan.keep_open));
	if (ids.size() == streams.size())
		plan.environment.emplace_back(ws::env_stream_ids, ws::join_numbers(ids));
	return plan;
}

Json streams_json(const Context &context, const Streams &streams)
{
	Json list = Json::array();

	for (const ws::UniqueFd &stream : streams) {
		const auto info = ws::stream_fdinfo(context.host, stream.get());
		Json object = Json::object();

		object["slot"] = list.size();
		object["fd"] = stream.get();
		object["id"] = info ? Json(info->id) : Json();
		object["ag_set"] = info ? Json(info->ag_set.str()) : Json();
		object["files"] = info ? Json(info->files) : Json();
		object["bytes"] = info ? Json(info->bytes) : Json();
		list.push_back(std::move(object));
	}
	return list;
}

} // namespace

int run(const Context &context, const RunOptions &options)
{
	try {
		const Streams streams = options.hold.empty() ? reserve(context, options)
							     : take_held(options.hold).streams;
		const ChildPlan plan = plan_for(context, options, streams);

		if (options.exec)
			become_command(plan);
		const ChildEnd end = run_child(plan);

		if (options.json) {
			Json document = json_document(context);

			document["streams"] = streams_json(context, streams);
			document["exit_status"] = end.signal == 0 ? Json(end.status) : Json();
			document["signal"] = end.signal == 0 ? Json() : Json(end.signal);
			write_json(context.err, document);
		}
		return end.status;
	} catch (const ws::Error &error) {
		context.report(error);
		if (error.call() != "exec")
			return exit_run_error;
		return error.code() == ENOENT ? exit_run_not_found : exit_run_cannot_exec;
	}
}

} // namespace wsctl
