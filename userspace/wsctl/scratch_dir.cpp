// SPDX-License-Identifier: GPL-2.0
#include "scratch_dir.h"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include <ws/error.h>

#include "text.h"

namespace wsctl
{

ScratchDir::ScratchDir(const std::string &parent, std::ostream &err)
    : path_(parent + "/wsctl-fio.XXXXXX"), err_(err)
{
	if (!mkdtemp(path_.data()))
		throw ws::Error(parent, "mkdtemp", errno);
}

ScratchDir::~ScratchDir()
{
	if (kept_)
		return;
	try {
		std::filesystem::remove_all(path_);
	} catch (const std::filesystem::filesystem_error &error) {
		err_ << fmt::format("wsctl: {}: could not be removed: {}\n", escape(path_),
				    error.code().message());
	} catch (const std::exception &) {
		err_ << "wsctl: files of the run could not be removed\n";
	}
}

} // namespace wsctl
