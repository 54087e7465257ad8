// SPDX-License-Identifier: GPL-2.0
#include "changes.h"

#include <cerrno>

#include <ws/dir_place.h>
#include <ws/error.h>
#include <ws/unique_fd.h>

#include "file_text.h"

namespace wsctl
{

void Changes::failed(const ws::Error &error)
{
	take({.path = error.path()}, [&](Json &) { throw error; });
}

void Changes::take(const NamedFile &file, const std::function<void(Json &entry)> &change)
{
	Json entry = Json::object();

	json_name(entry, "path", file.path);
	try {
		change(entry);
		entry["error"] = Json();
	} catch (const ws::Error &error) {
		if (file.found && error.code() == ENOENT)
			return; // it has vanished
		progress_.hide();
		context_.report(error);
		entry["error"] = json_error(error);
		status_ = exit_failed;
	}
	if (json_)
		writer_.element(entry);
	progress_.step(file.fraction);
}

int Changes::run(const FileOperands &operands)
{
	if (json_) {
		begin_document(writer_, context_);
		writer_.begin_array("files");
	}
	each_file(
		operands,
		[this](const NamedFile &file) {
			take(file, [&](Json &entry) {
				const ws::UniqueFd fd = ws::open_for_place(file.path);

				change_(fd.get(), file.path, entry);
			});
		},
		[this](int fd) {
			const std::string name = descriptor_name(fd);

			take({.path = name}, [&](Json &entry) { change_(fd, name, entry); });
		},
		[this](const ws::Error &error) { failed(error); });
	progress_.hide();
	if (json_) {
		writer_.end();
		writer_.end();
	}
	return status_;
}

} // namespace wsctl
