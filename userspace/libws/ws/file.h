// SPDX-License-Identifier: GPL-2.0
// An open file, its stream and where its data lies.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <ws/extents.h>
#include <ws/file_stream.h>
#include <ws/kernel.h>
#include <ws/stream.h>
#include <ws/unique_fd.h>

namespace ws
{

// Opens a regular file for SET; never a device or a FIFO. Throws Error.
UniqueFd open_for_set(const std::string &path);

class File
{
public:
	// To set and clear its stream as well.
	static File for_set(const Host &host, const std::string &path);
	// To look at it only.
	static File for_info(const Host &host, const std::string &path);
	// A descriptor that the caller has opened.
	File(const Host &host, UniqueFd fd, std::string path)
	    : host_(host), path_(std::move(path)), fd_(std::move(fd))
	{
	}

	[[nodiscard]] int fd() const noexcept { return fd_.get(); }
	[[nodiscard]] const std::string &path() const noexcept { return path_; }

	// All throw Error.
	void set(const Stream &stream) { set_stream(host_, fd_.get(), path_, stream.fd()); }
	void clear() { clear_stream(host_, fd_.get(), path_); }
	[[nodiscard]] std::optional<FileStream> stream() const;
	// Extents and holes in order; data is written back first.
	void extents(const std::function<void(const Extent &)> &visit) const;

private:
	Host host_;
	std::string path_;
	UniqueFd fd_;
};

} // namespace ws
