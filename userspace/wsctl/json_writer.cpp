// SPDX-License-Identifier: GPL-2.0
#include "json_writer.h"

namespace wsctl
{

namespace
{

constexpr int indent = 2;

std::string dump(const Json &value)
{
	// Bytes that are not UTF-8 become U+FFFD.
	return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace

// To the place of the next value in the innermost object or array.
void JsonWriter::next()
{
	if (levels_.empty())
		return;
	out_ << (levels_.back().empty ? "\n" : ",\n") << std::string(indent * levels_.size(), ' ');
	levels_.back().empty = false;
}

void JsonWriter::key(std::string_view name)
{
	next();
	out_ << dump(std::string(name)) << ": ";
}

void JsonWriter::write(const Json &value)
{
	const std::string shift(indent * levels_.size(), ' ');

	// Line ends inside of strings are escaped, so these are all between values.
	for (const char c : dump(value)) {
		out_ << c;
		if (c == '\n')
			out_ << shift;
	}
}

void JsonWriter::open(char begin, char close)
{
	out_ << begin;
	levels_.push_back({.close = close});
}

void JsonWriter::begin_object()
{
	next();
	open('{', '}');
}

void JsonWriter::begin_object(std::string_view name)
{
	key(name);
	open('{', '}');
}

void JsonWriter::begin_array(std::string_view name)
{
	key(name);
	open('[', ']');
}

void JsonWriter::end()
{
	const Level level = levels_.back();

	levels_.pop_back();
	if (!level.empty)
		out_ << '\n' << std::string(indent * levels_.size(), ' ');
	out_ << level.close;
	if (levels_.empty())
		out_ << '\n';
}

void JsonWriter::element(const Json &value)
{
	next();
	write(value);
}

void JsonWriter::member(std::string_view name, const Json &value)
{
	key(name);
	write(value);
}

void JsonWriter::members(const Json &object)
{
	for (const auto &[name, value] : object.items())
		member(name, value);
}

void begin_document(JsonWriter &json, const Context &context)
{
	json.begin_object();
	json.members(json_document(context));
}

} // namespace wsctl
