// SPDX-License-Identifier: GPL-2.0
#include "operands.h"

#include <cerrno>
#include <fstream>
#include <iostream>
#include <memory>

#include <glob.h>

#include <ws/parse.h>

#include "name_list.h"
#include "walk.h"

namespace wsctl
{

namespace
{

using Visit = std::function<void(const std::string &)>;
using Failed = std::function<void(const ws::Error &)>;

void each_match(const std::string &pattern, const Visit &visit)
{
	const auto release = [](glob_t *matches) { globfree(matches); };
	glob_t matches{};
	const std::unique_ptr<glob_t, decltype(release)> guard(&matches, release);
	const int result = glob(pattern.c_str(), GLOB_ERR, nullptr, &matches);

	if (result == GLOB_NOMATCH)
		throw ws::Error(pattern, "matches no file",
				"check the pattern; 'ls' shows what is there");
	if (result != 0)
		throw ws::Error(pattern, "glob", result == GLOB_NOSPACE ? ENOMEM : errno);
	for (std::size_t i = 0; i < matches.gl_pathc; i++)
		visit(matches.gl_pathv[i]);
}

void each_listed(const FileOperands &operands, const Visit &visit)
{
	if (operands.list == "-") {
		NameList names(std::cin, "standard input", operands.null);

		while (const auto name = names.next())
			visit(*name);
		return;
	}
	std::ifstream in(operands.list);
	if (!in)
		throw ws::Error(operands.list, "open", errno);
	NameList names(in, operands.list, operands.null);
	while (const auto name = names.next())
		visit(*name);
}

} // namespace

void each_file(const FileOperands &operands, const std::function<void(const NamedFile &)> &visit,
	       const std::function<void(int fd)> &visit_fd, const Failed &failed)
{
	// How many there are is known of those that are named here.
	const bool countable = operands.globs.empty() && operands.list.empty();
	const auto all = static_cast<double>(operands.files.size());
	double before = 0;
	const auto take = [&](const std::string &name) {
		const auto fraction = [&](double part) {
			return countable && all > 0 ? (before + part) / all : 0;
		};

		if (!operands.recursive)
			return visit({.path = name, .fraction = fraction(0)});
		walk_files(
			name,
			[&](const FoundFile &file, double part) {
				visit({.path = file.path,
				       .found = file.dir != nullptr,
				       .fraction = fraction(part)});
			},
			failed);
	};
	const auto guarded = [&](const auto &call) {
		try {
			call();
		} catch (const ws::Error &error) {
			failed(error);
		}
	};

	for (const std::string &name : operands.files) {
		take(name);
		before++;
	}
	for (const std::string &pattern : operands.globs)
		guarded([&] { each_match(pattern, take); });
	for (const int fd : operands.fds)
		visit_fd(fd);
	if (!operands.list.empty())
		guarded([&] { each_listed(operands, take); });
}

void each_file(const FileOperands &operands, const Visit &visit,
	       const std::function<void(int fd)> &visit_fd, const Failed &failed)
{
	each_file(operands, [&](const NamedFile &file) { visit(file.path); }, visit_fd, failed);
}

FileStreamOperand parse_file_stream(const std::string &text)
{
	// The name may have one in it.
	const auto equals = text.rfind('=');
	const auto id = equals == std::string::npos
				? std::nullopt
				: ws::parse_id(std::string_view(text).substr(equals + 1));

	if (!id || equals == 0)
		throw ws::Error(text, "is not of the form FILE=ID",
				"name a file and a stream's id, as in --stream a.dat=2");
	return {.path = text.substr(0, equals), .id = *id};
}

} // namespace wsctl
