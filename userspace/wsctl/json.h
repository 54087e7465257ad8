// SPDX-License-Identifier: GPL-2.0
// The JSON that --json writes; its schema is in wsctl(8).
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <ws/ag_set.h>
#include <ws/error.h>

#include "context.h"

namespace wsctl
{

using Json = nlohmann::ordered_json;

// Changes when a program that reads the old output would read the new wrong.
constexpr int json_version = 1;

// The start of every document.
Json json_document(const Context &context);
// Sets @key; where the name is not UTF-8 also @key_bytes, in hexadecimal.
void json_name(Json &object, const std::string &key, std::string_view name);
Json json_error(const ws::Error &error);
void write_json(std::ostream &out, const Json &document);

} // namespace wsctl
