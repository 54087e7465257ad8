// SPDX-License-Identifier: GPL-2.0
// The stream of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ws/kernel.h>

namespace ws
{

struct FileStream {
	std::uint32_t id = 0;
	std::uint32_t home_ag = 0;
	bool homed = false;
	bool missed = false;
	bool anchored = false; // what it is given from now on goes home
};

// @fd has to be open for writing; all throw Error.
void set_stream(const Host &host, int fd, const std::string &path, int stream_fd);
void clear_stream(const Host &host, int fd, const std::string &path);
// Nothing for a file without a live stream, and off wsfs.
std::optional<FileStream> file_stream(const Host &host, int fd, const std::string &path);
// The same, but throws Error off wsfs, where nobody knows.
std::optional<FileStream> require_file_stream(const Host &host, int fd, const std::string &path);

} // namespace ws
