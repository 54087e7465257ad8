// SPDX-License-Identifier: GPL-2.0
// Writes a JSON document piece by piece, so that long lists need no memory.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

namespace wsctl
{

class JsonWriter
{
public:
	explicit JsonWriter(std::ostream &out) : out_(out) {}

	void begin_object();
	void begin_object(std::string_view key);
	void begin_array(std::string_view key);
	void end(); // of the innermost object or array
	void element(const Json &value);
	void member(std::string_view key, const Json &value);
	// All members of an object.
	void members(const Json &object);

private:
	struct Level {
		char close;
		bool empty = true;
	};

	void next();
	void key(std::string_view name);
	void write(const Json &value);
	void open(char begin, char close);

	std::ostream &out_;
	std::vector<Level> levels_;
};

// A document of this command; @begin a list in it.
void begin_document(JsonWriter &json, const Context &context);

} // namespace wsctl
