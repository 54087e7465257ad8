// SPDX-License-Identifier: GPL-2.0
// Where the files are born that are made in a directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ws/kernel.h>
#include <ws/unique_fd.h>

namespace ws
{

enum class DirPlace {
	by_mount,    // nothing of its own
	near,	     // where the directory is, as XFS does
	spread,	     // in each AG in turn
	spread_free, // in each AG in turn that belongs to no reserved stream
	stream,	     // in the AGs of a stream, which they carry
};

// What a directory says of the files made in it.
struct DirBirths {
	DirPlace place = DirPlace::by_mount;
	// The id of the stream; nothing once it is released, which is as by_mount.
	std::optional<std::uint32_t> stream;
};

// Opens a directory to look at it or to give it a place, anything else for SET.
// Throws Error.
UniqueFd open_for_place(const std::string &path);
bool is_directory(int fd);

// @fd is open on the directory, for reading; both throw Error. @place is not stream.
void set_dir_stream(const Host &host, int fd, const std::string &path, int stream_fd);
void set_dir_place(const Host &host, int fd, const std::string &path, DirPlace place);
// Throws Error off wsfs, where nobody knows.
DirBirths dir_births(const Host &host, int fd, const std::string &path);

} // namespace ws
