// SPDX-License-Identifier: GPL-2.0
// The regular files in a tree.
#pragma once

#include <functional>
#include <string>

#include <ws/error.h>

namespace wsctl
{

// Calls @visit for @path itself, or for each regular file below it in the
// order of names, without leaving its filesystem or following links. What
// cannot be read goes to @failed; what vanished meanwhile is passed over.
void walk_files(const std::string &path, const std::function<void(const std::string &)> &visit,
		const std::function<void(const ws::Error &)> &failed);

} // namespace wsctl
