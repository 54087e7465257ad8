// SPDX-License-Identifier: GPL-2.0
#include "reserve.h"

#include <cerrno>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/filesystem.h>

#include "text.h"

namespace wsctl
{

std::vector<ws::Stream> reserve_streams(const ws::Host &host, const std::string &path,
					std::size_t count)
{
	const ws::UniqueFd fd = ws::open_for_info(path);
	std::vector<ws::Stream> streams;

	while (streams.size() < count) {
		try {
			streams.push_back(ws::Stream::reserve(host, fd.get(), path));
		} catch (const ws::Error &error) {
			if (error.code() != ENOSPC || streams.empty())
				throw;
			throw ws::Error(error.path(), error.call(), error.code(),
					fmt::format("only {} of {} could be had; {}",
						    plural(streams.size(), "stream"), count,
						    error.advice()));
		}
	}
	return streams;
}

} // namespace wsctl
