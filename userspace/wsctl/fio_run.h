// SPDX-License-Identifier: GPL-2.0
// wsctl fio run: the same job on plain XFS and on wsfs, in turn.
#pragma once

#include <cstdint>
#include <string>

#include "context.h"

namespace wsctl
{

struct FioRunOptions {
	bool json = false;
	bool keep = false; // the files
	std::uint32_t rounds = 1;
	std::string job;
	std::string path;
	std::string plain; // where plain XFS is; default: below wsfs
	std::string svg;   // a directory
	std::string fio = "fio";
};

// Exit status; 128 and the signal where one ended it.
int fio_run(const Context &context, const FioRunOptions &options);

} // namespace wsctl
