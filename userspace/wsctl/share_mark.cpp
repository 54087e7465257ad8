// SPDX-License-Identifier: GPL-2.0
#include "share_mark.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <ws/error.h>

namespace wsctl
{

namespace
{

// While it is held nobody else has the file open, and who opens it waits.
class Lease
{
public:
	explicit Lease(int fd) : fd_(fd)
	{
		// Not SIGIO, which would end us when somebody comes to wait.
		held_ = fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
	}
	Lease(const Lease &) = delete;
	Lease &operator=(const Lease &) = delete;
	~Lease()
	{
		if (held_)
			fcntl(fd_, F_SETLEASE, F_UNLCK);
	}

	[[nodiscard]] bool held() const noexcept { return held_; }

private:
	int fd_;
	bool held_;
};

bool has_privileges(const struct stat &st, int fd)
{
	return (st.st_mode & (S_ISUID | S_ISGID)) != 0 ||
	       fgetxattr(fd, "security.capability", nullptr, 0) > 0;
}

void unshare(const OpenFile &file, const struct stat &st, std::uint64_t block)
{
	const int fd = file.fd.get();
	const auto offset = static_cast<off_t>(block);
	const off_t length =
		std::min<off_t>(file.filesystem.geometry.block_size, st.st_size - offset);
	const std::array<timespec, 2> times{timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
					    st.st_mtim};

	// XFS looks for nothing dirty.
	if (fsync(fd) != 0)
		throw ws::Error(file.path, "fsync", errno);
	if (fallocate(fd, FALLOC_FL_UNSHARE_RANGE | FALLOC_FL_KEEP_SIZE, offset, length) != 0)
		throw ws::Error(file.path, "fallocate(FALLOC_FL_UNSHARE_RANGE)", errno);
	if (futimens(fd, times.data()) != 0)
		throw ws::Error(file.path, "futimens", errno);
}

} // namespace

std::optional<bool> has_share_mark(const Context &context, const OpenFile &file,
				   std::uint64_t block)
{
	const std::uint64_t number = block / file.filesystem.geometry.block_size;

	if (number > std::numeric_limits<int>::max())
		return std::nullopt;
	// To a file with the mark XFS tells no block numbers.
	int answer = static_cast<int>(number);
	if (context.host.kernel.ioctl(file.fd.get(), FIBMAP, &answer) < 0)
		return std::nullopt;
	return answer == 0;
}

bool clear_share_mark(const Context &context, const OpenFile &file, std::uint64_t block)
{
	const int fd = file.fd.get();
	const Lease lease(fd);
	struct stat st = {};

	if (!lease.held())
		return false;
	if (fstat(fd, &st) != 0)
		throw ws::Error(file.path, "fstat", errno);
	if (has_privileges(st, fd) || static_cast<off_t>(block) >= st.st_size)
		return false;
	unshare(file, st, block);
	if (!has_share_mark(context, file, block).value_or(false))
		return true;
	// What was written back by the page is dirty still by the inode.
	if (syncfs(fd) != 0)
		throw ws::Error(file.path, "syncfs", errno);
	unshare(file, st, block);
	return !has_share_mark(context, file, block).value_or(false);
}

} // namespace wsctl
