// SPDX-License-Identifier: GPL-2.0
#include "donors.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <ws/dir_place.h>
#include <ws/error.h>
#include <ws/extents.h>
#include <ws/inode_place.h>
#include <ws/mountinfo.h>

namespace wsctl
{

namespace
{

constexpr const char *prefix = ".wsctl-relocate-";

// A directory that is removed when the object goes.
class BriefDir
{
public:
	explicit BriefDir(const std::string &base) : path_(base + "/" + prefix + "XXXXXX")
	{
		if (!mkdtemp(path_.data()))
			throw ws::Error(base, "mkdtemp", errno);
	}
	BriefDir(const BriefDir &) = delete;
	BriefDir &operator=(const BriefDir &) = delete;
	~BriefDir() { rmdir(path_.c_str()); }

	[[nodiscard]] const std::string &path() const noexcept { return path_; }

private:
	std::string path_;
};

// What somebody who was killed has left. One in use is made anew by its owner.
void sweep(const std::string &base)
{
	std::error_code ignored;

	for (auto entry = std::filesystem::directory_iterator(base, ignored);
	     !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
		if (entry->path().filename().native().starts_with(prefix))
			rmdir(entry->path().c_str());
	}
}

// A directory's files take after it in nothing but the AG.
void make_plain(const ws::Host &host, const OpenFile &file, int dir)
{
	struct fsxattr attr = {};

	if (file.filesystem.type == ws::Filesystem::Type::wsfs)
		ws::set_dir_place(host, dir, file.path, ws::DirPlace::near);
	if (host.kernel.ioctl(dir, FS_IOC_FSGETXATTR, &attr) < 0 ||
	    (attr.fsx_xflags & ~FS_XFLAG_HASATTR) == 0)
		return;
	attr = {};
	// Where that is not allowed, the donor's blocks tell.
	host.kernel.ioctl(dir, FS_IOC_FSSETXATTR, &attr);
}

} // namespace

DonorLoan::~DonorLoan()
{
	// At the end of the process the kernel does it.
	if (fd_ >= 0 && ftruncate(fd_, 0) != 0)
		return;
}

std::vector<std::string> Donors::bases(const OpenFile &file) const
{
	std::vector<std::string> found;
	const auto id = host_.kernel.mount_id(file.fd.get());
	const auto slash = file.path.rfind('/');

	// Where no program looks for files of its own; but it may not be ours.
	if (id) {
		for (const ws::MountEntry &mount : ws::read_mounts(host_)) {
			if (mount.id == *id)
				found.push_back(mount.mount_point);
		}
	}
	if (slash == std::string::npos)
		found.emplace_back(".");
	else
		found.push_back(slash == 0 ? "/" : file.path.substr(0, slash));
	return found;
}

ws::UniqueFd Donors::make_file(const OpenFile &file, int dir, std::uint32_t ag) const
{
	constexpr mode_t mode = 0600;

	make_plain(host_, file, dir);
	ws::UniqueFd donor(openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
	if (!donor)
		throw ws::Error(file.path, "open(O_TMPFILE)", errno);
	if (ws::ag_of_inode(host_, donor.get(), file.path) != ag)
		donor.reset();
	return donor;
}

void Donors::make_one(const OpenFile &file, const ws::AgSet &home, const Place &wanted,
		      const std::string &base)
{
	constexpr std::size_t enough = 64; // open at a time, beside those that are needed
	struct stat st = {};
	const BriefDir brief(base);
	const ws::UniqueFd dir(
		open(brief.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

	if (!dir)
		return; // swept away
	if (fstat(dir.get(), &st) != 0)
		throw ws::Error(base, "fstat", errno);
	if (st.st_dev != wanted.first)
		throw ws::Error(base, "is on another filesystem", "");
	const auto ag = ws::ag_of_inode(host_, dir.get(), file.path);
	if (!ag || !home.contains(*ag))
		return;
	const Place place{wanted.first, *ag};
	if (donors_.contains(place) || (place != wanted && donors_.size() >= enough))
		return;
	if (ws::UniqueFd donor = make_file(file, dir.get(), *ag))
		donors_.emplace(place, std::move(donor));
}

void Donors::make(const OpenFile &file, const ws::AgSet &home, const Place &wanted)
{
	// Others make directories too, and so take turns of ours.
	const std::uint64_t tries = 2 * std::uint64_t{file.filesystem.geometry.ags.count} + 8;
	std::optional<ws::Error> failure;

	for (const std::string &base : bases(file)) {
		try {
			sweep(base);
			for (std::uint64_t i = 0; i < tries && !donors_.contains(wanted); i++)
				make_one(file, home, wanted, base);
			failure.reset();
			break;
		} catch (const ws::Error &error) {
			failure = error;
		}
	}
	if (failure)
		throw ws::Error(file.path,
				fmt::format("no donor could be made: {}: {}", failure->path(),
					    failure->reason()),
				"relocating takes the right to make a directory beside the file or "
				"in the root of its mount");
	if (!donors_.contains(wanted))
		missing_.insert(wanted);
}

int Donors::find(const OpenFile &file, dev_t device, const ws::AgSet &home, std::uint32_t ag)
{
	const Place place{device, ag};

	if (!donors_.contains(place) && !missing_.contains(place))
		make(file, home, place);
	const auto found = donors_.find(place);
	return found == donors_.end() ? -1 : found->second.get();
}

bool Donors::is_home(const OpenFile &file, const ws::AgSet &home, int donor) const
{
	const ws::Geometry &geometry = file.filesystem.geometry;
	ws::FileShape shape = ws::file_shape(host_, donor, file.path, geometry);
	bool good = !shape.realtime;
	bool any = false;

	shape.end = std::numeric_limits<std::uint64_t>::max(); // all is behind the end
	ws::walk_extents(host_, donor, file.path, shape, [&](const ws::Extent &extent) {
		if (!extent.sector)
			return;
		const auto ag = geometry.ags.group_of(*extent.sector);

		any = true;
		good = good && ag && home.contains(*ag);
	});
	return good && any;
}

std::optional<DonorLoan> Donors::lend(const OpenFile &file, const ws::AgSet &home,
				      const std::vector<std::uint32_t> &order, std::uint64_t bytes)
{
	struct stat st = {};

	if (fstat(file.fd.get(), &st) != 0)
		throw ws::Error(file.path, "fstat", errno);
	for (const std::uint32_t ag : order) {
		const int donor = find(file, st.st_dev, home, ag);

		if (donor < 0)
			continue;
		DonorLoan loan(donor);
		if (fallocate(donor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) {
			if (is_home(file, home, donor))
				return loan;
		} else if (errno != ENOSPC) {
			throw ws::Error(file.path, "fallocate of a donor", errno);
		}
	}
	return std::nullopt;
}

} // namespace wsctl
