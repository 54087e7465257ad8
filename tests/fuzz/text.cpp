// SPDX-License-Identifier: GPL-2.0
// File names on their way to a terminal, to XML and to JSON.
#include "text.h"

#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "json.h"
#include "junit.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const auto name = text_of(data, size);
	const std::string shown = wsctl::escape(name);

	require(wsctl::is_utf8(shown));
	for (const char c : shown)
		require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
	require(wsctl::xml_escape(name).find_first_of("<>\"\n") == std::string::npos);

	wsctl::Json object = wsctl::Json::object();
	wsctl::json_name(object, "path", name);
	const std::string json = object.dump(-1, ' ', false, wsctl::Json::error_handler_t::replace);
	require(wsctl::Json::accept(json));
	return 0;
}
