// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include "text.h"

namespace wsctl
{

Json json_document(const Context &context)
{
	Json document = Json::object();

	document["version"] = json_version;
	document["command"] = context.command;
	return document;
}

void json_name(Json &object, const std::string &key, std::string_view name)
{
	object[key] = std::string(name);
	if (!is_utf8(name))
		object[key + "_bytes"] = hex(name);
}

Json json_error(const ws::Error &error)
{
	Json object = Json::object();

	json_name(object, "path", error.path());
	object["call"] = error.call().empty() ? Json() : Json(error.call());
	object["errno"] = error.code() == 0 ? Json() : Json(error.code());
	object["name"] = error.code() == 0 ? Json() : Json(ws::errno_name(error.code()));
	object["message"] = error.reason();
	object["advice"] = error.advice();
	return object;
}

void write_json(std::ostream &out, const Json &document)
{
	constexpr int indent = 2;

	// Bytes that are not UTF-8 become U+FFFD.
	out << document.dump(indent, ' ', false, Json::error_handler_t::replace) << '\n';
}

} // namespace wsctl
