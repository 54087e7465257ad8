// SPDX-License-Identifier: GPL-2.0
#include "walk.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace wsctl
{

namespace
{

// So many entries of a directory are sorted and remembered at a time.
constexpr std::size_t block_entries = 4096;

// What a name takes in a directory of XFS: inode number, length, type, tag.
std::uint64_t disk_bytes(const std::string &name)
{
	constexpr std::uint64_t beside_name = 12;
	constexpr std::uint64_t alignment = 8;

	return (name.size() + beside_name + alignment - 1) / alignment * alignment;
}

} // namespace

struct Walk::Level {
	struct Entry {
		std::string name;
		unsigned char type = DT_UNKNOWN;
	};
	struct CloseDir {
		void operator()(DIR *stream) const noexcept { closedir(stream); }
	};

	std::string path; // with a slash at the end
	std::shared_ptr<const OpenDirectory> dir;
	std::unique_ptr<DIR, CloseDir> stream;
	std::uint64_t size = 0; // of the directory, in bytes
	std::vector<Entry> block;
	std::size_t next = 0;	  // in the block
	bool more = true;	  // behind the block
	std::uint64_t before = 0; // entries in earlier blocks
	std::uint64_t seen_bytes = 0;
	// Which part of the whole this directory is.
	double base = 0;
	double span = 1;

	void fill();
	[[nodiscard]] double entries() const noexcept;
	[[nodiscard]] double done() const noexcept
	{
		return base + span * static_cast<double>(before + next) / entries();
	}
};

void Walk::Level::fill()
{
	before += block.size();
	block.clear();
	next = 0;
	while (block.size() < block_entries) {
		errno = 0;
		const dirent *entry = readdir(stream.get());

		if (!entry) {
			more = false;
			if (errno != 0)
				throw ws::Error(path, "readdir", errno);
			break;
		}
		const std::string_view name = entry->d_name;
		if (name == "." || name == "..")
			continue;
		block.push_back({.name = std::string(name), .type = entry->d_type});
		seen_bytes += disk_bytes(block.back().name);
	}
	std::ranges::sort(block, {}, &Entry::name);
}

double Walk::Level::entries() const noexcept
{
	const auto seen = static_cast<double>(before + block.size());

	if (seen == 0)
		return 1;
	if (!more || seen_bytes == 0)
		return seen;
	return std::max(seen + 1,
			static_cast<double>(size) * seen / static_cast<double>(seen_bytes));
}

Walk::Walk(std::vector<Operand> operands, Failed failed)
    : operands_(std::move(operands)), failed_(std::move(failed))
{
}

Walk::~Walk() = default;

double Walk::fraction() const noexcept
{
	if (!levels_.empty())
		return std::clamp(levels_.back()->done(), 0.0, 1.0);
	return operands_.empty()
		       ? 1
		       : static_cast<double>(operand_) / static_cast<double>(operands_.size());
}

// Makes the directory the next one to be read.
bool Walk::enter(const OpenDirectory *parent, const std::string &name, const std::string &path)
{
	const int follow = parent ? O_NOFOLLOW : 0;
	ws::UniqueFd fd(::openat(parent ? parent->fd.get() : AT_FDCWD, name.c_str(),
				 O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
	struct stat st = {};

	if (!fd) {
		if (errno != ENOENT || !parent)
			failed_(ws::Error(path, "open", errno));
		return false;
	}
	if (fstat(fd.get(), &st) != 0) {
		failed_(ws::Error(path, "fstat", errno));
		return false;
	}
	if (parent && st.st_dev != device_)
		return false;
	device_ = st.st_dev;

	auto level = std::make_unique<Level>();
	const int copy = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
	level->stream.reset(copy < 0 ? nullptr : fdopendir(copy));
	if (!level->stream) {
		failed_(ws::Error(path, "opendir", errno));
		if (copy >= 0)
			::close(copy);
		return false;
	}
	level->dir = std::make_shared<OpenDirectory>(OpenDirectory{.fd = std::move(fd)});
	level->path = path.ends_with('/') ? path : path + "/";
	level->size = static_cast<std::uint64_t>(st.st_size);
	if (levels_.empty()) {
		level->span = 1.0 / static_cast<double>(operands_.size());
		level->base = static_cast<double>(operand_ - 1) * level->span;
	} else {
		const Level &above = *levels_.back();

		level->span = above.span / above.entries();
		level->base = above.done() - level->span;
	}
	levels_.push_back(std::move(level));
	return true;
}

void Walk::begin_operand()
{
	const Operand &operand = operands_[operand_++];
	struct stat st = {};

	if (stat(operand.path.c_str(), &st) != 0)
		failed_(ws::Error(operand.path, "stat", errno));
	else if (S_ISDIR(st.st_mode))
		enter(nullptr, operand.path, operand.path);
	else
		file_ = FoundFile{.path = operand.path,
				  .group = operand.group,
				  .dir = nullptr,
				  .name = operand.path};
}

// The next entry of this directory, where it is a file.
std::optional<FoundFile> Walk::take(Level &level)
{
	Level::Entry &entry = level.block[level.next++];
	const std::string path = level.path + entry.name;

	if (entry.type == DT_UNKNOWN) {
		struct stat st = {};

		if (fstatat(level.dir->fd.get(), entry.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) !=
		    0) {
			if (errno != ENOENT)
				failed_(ws::Error(path, "fstatat", errno));
			return std::nullopt;
		}
		entry.type = static_cast<unsigned char>(IFTODT(st.st_mode));
	}
	if (entry.type == DT_REG)
		return FoundFile{.path = path,
				 .group = operands_[operand_ - 1].group,
				 .dir = level.dir,
				 .name = std::move(entry.name)};
	if (entry.type == DT_DIR)
		enter(level.dir.get(), entry.name, path);
	return std::nullopt;
}

std::optional<FoundFile> Walk::next()
{
	for (;;) {
		if (file_)
			return std::exchange(file_, std::nullopt);
		if (levels_.empty()) {
			if (operand_ == operands_.size())
				return std::nullopt;
			begin_operand();
			continue;
		}
		Level &level = *levels_.back();
		if (level.next < level.block.size()) {
			file_ = take(level);
		} else if (level.more) {
			try {
				level.fill();
			} catch (const ws::Error &error) {
				failed_(error);
			}
		} else {
			levels_.pop_back();
		}
	}
}

void walk_files(const std::string &path,
		const std::function<void(const FoundFile &, double fraction)> &visit,
		const std::function<void(const ws::Error &)> &failed)
{
	Walk walk({{.path = path}}, failed);

	while (const auto file = walk.next()) {
		struct stat st = {};

		if (file->dir &&
		    fstatat(file->dir->fd.get(), file->name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		visit(*file, walk.fraction());
	}
}

} // namespace wsctl
