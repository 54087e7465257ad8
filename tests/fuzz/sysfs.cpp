// SPDX-License-Identifier: GPL-2.0
// /sys/fs/wsfs: the module's files, of whatever version it is.
#include <ws/sysfs.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <ws/error.h>

#include "fuzz.hpp"

namespace
{

// Files with pieces of the input in them, in a directory that is made once.
const std::filesystem::path &directory()
{
	static const std::filesystem::path path = [] {
		auto dir = std::filesystem::temp_directory_path() /
			   ("wsfs-fuzz-" + std::to_string(getpid()));

		std::filesystem::create_directories(dir / "dev" / "stream" / "0");
		return dir;
	}();

	return path;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const auto dir = directory() / "dev";
	std::string_view rest = text_of(data, size);
	FuzzKernel kernel("", 0, 0);
	const ws::Host host{.kernel = kernel, .sysfs = directory()};

	for (const char *name :
	     {"streams", "lower", "hints_reset", "stream/0/ag_set", "stream/0/reserved",
	      "stream/0/files", "stream/0/homed", "stream/0/missed", "stream/0/anchored",
	      "stream/0/overflowed", "stream/0/overflow_order", "stream/0/bytes"}) {
		const auto end = rest.find('\n');

		std::ofstream(dir / name) << rest.substr(0, end);
		rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
	}
	try {
		require(ws::read_device(host, "dev").streams.size() <= 1024);
	} catch (const ws::Error &) {
	}
	return 0;
}
