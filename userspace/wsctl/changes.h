// SPDX-License-Identifier: GPL-2.0
// A change made to each of several files or directories.
#pragma once

#include <functional>
#include <string>

#include "context.h"
#include "json.h"
#include "json_writer.h"
#include "operands.h"
#include "progress.h"

namespace wsctl
{

// Calls @change on each file, opened for writing, and on each directory, opened
// for reading; goes on after errors.
class Changes
{
public:
	using Change = std::function<void(int fd, const std::string &path, Json &entry)>;

	// @talks: @change writes a line for each file, or JSON is written.
	Changes(const Context &context, bool json, bool talks, Change change)
	    : context_(context), json_(json), change_(std::move(change)), writer_(context.out),
	      progress_(context.err, context.progress && !(context.terminal && talks), "file")
	{
	}

	int run(const FileOperands &operands);

private:
	void take(const NamedFile &file, const std::function<void(Json &entry)> &change);
	void failed(const ws::Error &error);

	const Context &context_;
	bool json_;
	Change change_;
	JsonWriter writer_;
	Progress progress_;
	int status_ = exit_ok;
};

} // namespace wsctl
