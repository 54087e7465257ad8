// SPDX-License-Identifier: GPL-2.0
//
// A log and a table on streams of their own, with libws from C++20. As root on
// a wsfs mount:
//
//	c++ -std=c++20 -o libws-example libws-example.cpp $(pkg-config --cflags --libs libws++)
//	./libws-example /mnt/ws
//
// The objects own what they stand for: a stream is released when the last
// object (or copy of its descriptor) is gone, whatever was thrown meanwhile.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <ws/error.h>
#include <ws/file.h>
#include <ws/mount.h>

namespace
{

void write_file(const ws::Host &host, const std::string &path, const ws::Stream &stream)
{
	std::ofstream(path).close();
	{
		// While the file is empty: then it is placed anew.
		ws::File file = ws::File::for_set(host, path);

		file.set(stream);
	}
	std::ofstream(path, std::ios::app) << std::string(65536, 'x');

	const ws::File file = ws::File::for_info(host, path);
	const ws::Mount mount = ws::Mount::at(host, path);
	file.extents([&](const ws::Extent &extent) {
		if (const auto agno = extent.sector ? mount.geometry().ags.group_of(*extent.sector)
						    : std::nullopt)
			std::cout << path << ": " << extent.length * ws::sector_size
				  << " bytes in AG " << *agno << '\n';
	});
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::cerr << "usage: " << argv[0] << " DIRECTORY\n";
		return 2;
	}
	try {
		const std::string dir = argv[1];
		ws::LinuxKernel kernel;
		const ws::Host host{.kernel = kernel};
		const ws::Mount mount = ws::Mount::at(host, dir);

		std::cout << mount.streams() << " streams\n";
		const ws::Stream log = mount.reserve();
		const ws::Stream table = mount.reserve();
		if (const auto info = log.info(host))
			std::cout << "the log's AGs: " << info->ag_set.str() << '\n';
		write_file(host, dir + "/wal.log", log);
		write_file(host, dir + "/table.sst", table);
	} catch (const ws::Error &error) {
		std::cerr << error.what() << '\n';
		if (!error.advice().empty())
			std::cerr << "hint: " << error.advice() << '\n';
		return EXIT_FAILURE;
	} catch (const std::exception &error) {
		std::cerr << error.what() << '\n';
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
