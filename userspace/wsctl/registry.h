// SPDX-License-Identifier: GPL-2.0
// How a command that has a file of its own makes itself known.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "context.h"

namespace wsctl
{

class Registry
{
public:
	using Action = std::function<int(const Context &context)>;

	Registry() = default;
	Registry(const Registry &) = delete;
	Registry &operator=(const Registry &) = delete;
	virtual ~Registry() = default;

	// A command that writes JSON where @json is set. @action runs once the
	// whole command line is understood, and returns the exit status.
	virtual CLI::App *command(const std::string &name, const std::string &description,
				  bool &json, const Action &action) = 0;
	// A command of commands, such as "fio".
	virtual CLI::App *family(const std::string &name, const std::string &description) = 0;
	virtual CLI::App *command(CLI::App *family, const std::string &name,
				  const std::string &description, bool &json,
				  const Action &action) = 0;
	// What stands behind the first "--".
	[[nodiscard]] virtual std::vector<std::string> tail() const = 0;
};

void register_doctor(Registry &registry);
void register_fio(Registry &registry);
void register_hold(Registry &registry);
void register_relocate(Registry &registry);
void register_spread(Registry &registry);

} // namespace wsctl
