// SPDX-License-Identifier: GPL-2.0
// The regular files in trees, one after the other, in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <dirent.h>
#include <sys/types.h>

#include <ws/error.h>
#include <ws/unique_fd.h>

namespace wsctl
{

// What is named on the command line: a file or the top of a tree.
struct Operand {
	std::string path;
	std::size_t group = 0;
};

// A directory that is open as long as something in it is to be opened.
struct OpenDirectory {
	ws::UniqueFd fd;
};

struct FoundFile {
	std::string path;
	std::size_t group = 0;
	// In a tree: to be opened as @name in @dir. Else null: an operand itself,
	// which may be anything.
	std::shared_ptr<const OpenDirectory> dir;
	std::string name;
};

// Goes through the operands in order. Each directory's entries come in the
// order of their names, those of a large one block by block. Neither follows
// links below an operand nor leaves its filesystem.
class Walk
{
public:
	using Failed = std::function<void(const ws::Error &)>;

	// What cannot be read goes to @failed; what vanished is passed over.
	Walk(std::vector<Operand> operands, Failed failed);
	Walk(const Walk &) = delete;
	Walk &operator=(const Walk &) = delete;
	~Walk();

	std::optional<FoundFile> next();
	// An estimate of how much of it is done, from 0 to 1.
	[[nodiscard]] double fraction() const noexcept;

private:
	struct Level;

	std::optional<FoundFile> take(Level &level);
	bool enter(const OpenDirectory *parent, const std::string &name, const std::string &path);
	void begin_operand();

	std::vector<Operand> operands_;
	Failed failed_;
	std::size_t operand_ = 0; // the next one
	dev_t device_ = 0;	  // of the operand that we are in
	std::optional<FoundFile> file_;
	std::vector<std::unique_ptr<Level>> levels_;
};

// Calls @visit for @path itself, or for each regular file below it, as Walk
// finds them, with an estimate of how much is done.
void walk_files(const std::string &path,
		const std::function<void(const FoundFile &, double fraction)> &visit,
		const std::function<void(const ws::Error &)> &failed);

} // namespace wsctl
