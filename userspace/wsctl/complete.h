// SPDX-License-Identifier: GPL-2.0
// Completion for shells, from the same description of the command line that
// parses it. The scripts in completion/ only call it.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wsctl
{

constexpr const char *complete_command = "__complete";

// What may stand in place of the last of @words, each on a line as "word" or
// "word<tab>description", behind a line that says what else may:
//   files          names of files
//   none           nothing
//   command N      another program's command line, from word N on
void write_completions(std::ostream &out, CLI::App &app, const std::vector<std::string> &words);

} // namespace wsctl
