// SPDX-License-Identifier: GPL-2.0
#include "context.h"

#include <fmt/format.h>

#include "text.h"

namespace wsctl
{

void Context::report(const ws::Error &error) const
{
	err << fmt::format("wsctl {}: {}: {}\n", command, escape(error.path()), error.reason());
	if (!error.advice().empty())
		err << fmt::format("wsctl {}: hint: {}\n", command, error.advice());
}

std::string Context::alarm(const std::string &text) const
{
	return colour ? "\x1b[1;31m" + text + "\x1b[0m" : text;
}

} // namespace wsctl
