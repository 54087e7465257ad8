// SPDX-License-Identifier: GPL-2.0
// wsctl hold and wsctl release: streams that wsfs-holdd holds by name.
#include <algorithm>
#include <cerrno>
#include <memory>

#include <grp.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ws/filesystem.h>
#include <ws/parse.h>

#include "context.h"
#include "held.h"
#include "json.h"
#include "registry.h"
#include "text.h"

namespace wsctl
{

namespace
{

struct HoldOptions {
	bool json = false;
	bool keep = false;
	std::uint32_t streams = 1;
	std::string group;
	std::string name;
	std::string path;
	std::string socket;
};

struct ReleaseOptions {
	bool json = false;
	std::vector<std::string> names;
	std::string socket;
};

gid_t group_id(const std::string &group)
{
	if (const auto number = ws::parse_id(group))
		return *number;
	errno = 0;
	const struct group *entry = getgrnam(group.c_str());
	if (!entry)
		throw ws::Error(group, "there is no such group",
				"make it with: groupadd --system " + escape(group));
	return entry->gr_gid;
}

std::string group_name(std::optional<std::uint32_t> group)
{
	if (!group)
		return "-";
	const struct group *entry = getgrgid(*group);
	return entry ? entry->gr_name : std::to_string(*group);
}

Json held_json(const hold::Held &held)
{
	Json object = Json::object();

	object["name"] = held.name;
	object["group"] = held.group ? Json(*held.group) : Json();
	object["group_name"] = held.group ? Json(group_name(held.group)) : Json();
	object["dev"] = held.dev.empty() ? Json() : Json(held.dev);
	object["count"] = held.streams;
	object["ids"] = held.ids.empty() ? Json() : Json(held.ids);
	return object;
}

std::string ids_text(const hold::Held &held)
{
	return held.ids.empty() ? "-" : fmt::format("{}", fmt::join(held.ids, ","));
}

void write_held(const Context &context, const std::vector<hold::Held> &list)
{
	std::size_t name = 4;
	std::size_t group = 5;
	std::size_t dev = 3;

	if (list.empty()) {
		context.out << "no streams are held\n";
		return;
	}
	for (const hold::Held &held : list) {
		name = std::max(name, held.name.size());
		group = std::max(group, escape(group_name(held.group)).size());
		dev = std::max(dev, escape(held.dev).size());
	}
	context.out << fmt::format("{:<{}}  {:<{}}  {:<{}}  STREAMS  IDS\n", "NAME", name, "GROUP",
				   group, "DEV", dev);
	for (const hold::Held &held : list)
		context.out << fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>7}  {}\n", held.name, name,
					   escape(group_name(held.group)), group,
					   held.dev.empty() ? "-" : escape(held.dev), dev,
					   held.streams, ids_text(held));
}

void write_held_json(const Context &context, const std::vector<hold::Held> &list)
{
	Json document = json_document(context);
	Json &held = document["held"] = Json::array();

	for (const hold::Held &entry : list)
		held.push_back(held_json(entry));
	write_json(context.out, document);
}

int hold_list(const Context &context, const HoldOptions &options)
{
	const hold::Result result =
		hold::ask(hold::socket_path(options.socket), {.verb = hold::Verb::list});

	if (options.json)
		write_held_json(context, result.held);
	else
		write_held(context, result.held);
	return exit_ok;
}

int hold_streams(const Context &context, const HoldOptions &options)
{
	hold::Request request{.verb = hold::Verb::hold, .name = options.name};

	check_hold_name(options.name);
	request.streams = options.streams;
	request.keep = options.keep;
	if (!options.group.empty())
		request.group = group_id(options.group);
	// The broker gets the open file, and so never looks for a path itself.
	const ws::UniqueFd file = ws::open_for_info(options.path);
	const hold::Result result =
		hold::ask(hold::socket_path(options.socket), request, file.get());

	if (options.json)
		write_held_json(context, result.held);
	return exit_ok;
}

int release(const Context &context, const ReleaseOptions &options)
{
	Json document = json_document(context);
	Json &list = document["released"] = Json::array();
	Json errors = Json::array();
	int status = exit_ok;

	for (const std::string &name : options.names) {
		try {
			check_hold_name(name);
			hold::ask(hold::socket_path(options.socket),
				  {.verb = hold::Verb::release, .name = name});
			list.push_back(name);
		} catch (const ws::Error &error) {
			context.report(error);
			errors.push_back(json_error(error));
			status = exit_failed;
		}
	}
	document["errors"] = std::move(errors);
	if (options.json)
		write_json(context.out, document);
	return status;
}

void add_socket(CLI::App *command, std::string &socket)
{
	command->add_option("--socket", socket,
			    "the broker's socket; default: $WSFS_HOLD_SOCKET or " +
				    std::string(hold::default_socket))
		->type_name("FILE");
}

} // namespace

void register_hold(Registry &registry)
{
	auto held = std::make_shared<HoldOptions>();
	CLI::App *command =
		registry.command("hold", "Hold streams by name, for services; or list what is held",
				 held->json, [held](const Context &context) {
					 if (held->name.empty())
						 return hold_list(context, *held);
					 return hold_streams(context, *held);
				 });

	command->add_option("-n,--streams", held->streams, "how many streams to hold")
		->check(CLI::Range(1U, hold::max_streams))
		->capture_default_str();
	command->add_option("-g,--group", held->group,
			    "group whose members may use them; default: root alone");
	command->add_flag("-k,--keep", held->keep,
			  "be content where the same is held by this name already");
	add_socket(command, held->socket);
	CLI::Option *name = command->add_option("NAME", held->name, "what to call them");
	CLI::Option *path = command->add_option("PATH", held->path, "anything on the filesystem");
	name->needs(path);
	command->footer(
		"wsfs-holdd(8) holds the streams until 'wsctl release' or until it is stopped. A\n"
		"service uses them through 'wsctl run --hold NAME' or 'wsctl set --held NAME'.\n"
		"\n"
		"Examples:\n"
		"  wsctl hold -n 2 -g database db /srv/data\n"
		"  wsctl hold\n"
		"  sudo -u db wsctl run --hold db -- my-database /srv/data\n"
		"  wsctl release db");

	auto released = std::make_shared<ReleaseOptions>();
	command = registry.command(
		"release", "Let go of streams that are held by name", released->json,
		[released](const Context &context) { return release(context, *released); });
	add_socket(command, released->socket);
	command->add_option("NAME", released->names, "what 'wsctl hold' lists")->required();
	command->footer("Processes that use such a stream keep it until they end.\n"
			"\n"
			"Example:\n"
			"  wsctl release db");
}

} // namespace wsctl
