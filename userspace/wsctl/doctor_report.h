// SPDX-License-Identifier: GPL-2.0
// What doctor has found, for people and for programs.
#pragma once

#include <vector>

#include "context.h"
#include "doctor.h"

namespace wsctl
{

// Nothing is in the way.
bool is_well(const std::vector<Finding> &findings);
// By subject; @quiet: only what is wrong.
void write_findings(const Context &context, const std::vector<Finding> &findings, bool quiet);
void write_findings_json(const Context &context, const std::vector<Finding> &findings);

} // namespace wsctl
