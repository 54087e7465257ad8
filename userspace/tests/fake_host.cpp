// SPDX-License-Identifier: GPL-2.0
#include "fake_host.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "fake_xfs.h"

int FakeKernel::ioctl(int fd, unsigned long request, void *argument) noexcept
{
	const auto failure = failures.find(request);

	if (failure != failures.end())
		return -failure->second;
	return answer(fd, request, argument);
}

FakeType FakeKernel::type_of(int fd) const
{
	if (plain.empty())
		return type;
	const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
	return path.native().starts_with(plain.native()) ? FakeType::xfs : type;
}

int FakeKernel::answer(int fd, unsigned long request, void *argument)
{
	const FakeType here = type_of(fd);

	if (request == FS_IOC_FIEMAP)
		return fiemap(fd, static_cast<struct fiemap *>(argument));
	if (request == FS_IOC_FSGETXATTR) {
		const FakeFile *file = find(fd);

		static_cast<fsxattr *>(argument)->fsx_xflags = file ? file->xflags : 0;
		return 0;
	}
	if (request == fake_xfs_geometry_request() && here != FakeType::other)
		return fake_xfs_geometry(*this, argument);
	if (request == fake_ag_geometry_request() && here != FakeType::other)
		return fake_ag_geometry(*this, argument);
	if (request == FS_IOC_GETFSMAP && here != FakeType::other)
		return getfsmap(static_cast<struct fsmap_head *>(argument));
	if (here != FakeType::wsfs)
		return -ENOTTY;
	switch (request) {
	case WSFS_IOC_GEOMETRY:
		return geometry(static_cast<wsfs_geometry *>(argument));
	case WSFS_IOC_FILE_INFO:
		return file_info(fd, static_cast<wsfs_file_info *>(argument));
	case FS_IOC_WRITE_STREAM_GET_MAX:
		*static_cast<__u32 *>(argument) = free_streams;
		return 0;
	case FS_IOC_WRITE_STREAM_ALLOC:
		return alloc();
	case FS_IOC_WRITE_STREAM_SET:
		if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
			return -EBADF;
		sets.push_back(*static_cast<fs_write_stream_set *>(argument));
		if (signal_in_set != 0)
			raise(signal_in_set);
		return 0;
	case WSFS_IOC_SET_DIR:
		dir_places.push_back(*static_cast<wsfs_dir_place *>(argument));
		return 0;
	default:
		return -ENOTTY;
	}
}

std::optional<std::uint64_t> FakeKernel::mount_id(int /*fd*/) noexcept
{
	return mount;
}

FakeFile *FakeKernel::find(int fd)
{
	struct stat st = {};

	if (fstat(fd, &st) != 0)
		return nullptr;
	const auto found = files.find({st.st_dev, st.st_ino});
	return found == files.end() ? nullptr : &found->second;
}

int FakeKernel::fiemap(int fd, struct fiemap *map)
{
	const FakeFile *file = find(fd);

	fiemap_calls++;
	map->fm_mapped_extents = 0;
	if (!file)
		return 0;
	for (const FakeExtent &extent : file->extents) {
		if ((extent.offset + extent.length) * fake_block <= map->fm_start)
			continue;
		if (map->fm_mapped_extents == map->fm_extent_count)
			break;
		fiemap_extent &raw = map->fm_extents[map->fm_mapped_extents++];
		raw = {};
		raw.fe_logical = extent.offset * fake_block;
		raw.fe_physical = extent.block * fake_block;
		raw.fe_length = extent.length * fake_block;
		raw.fe_flags = extent.flags;
		if (&extent == &file->extents.back())
			raw.fe_flags |= FIEMAP_EXTENT_LAST;
	}
	return 0;
}

int FakeKernel::getfsmap(struct fsmap_head *head) const
{
	const struct fsmap &low = head->fmh_keys[0];

	head->fmh_entries = 0;
	for (const struct fsmap &record : mappings) {
		// The low key is a record that was seen, or all zeroes.
		if (low.fmr_length != 0 && record.fmr_physical <= low.fmr_physical)
			continue;
		if (head->fmh_entries == head->fmh_count)
			break;
		head->fmh_recs[head->fmh_entries++] = record;
	}
	if (head->fmh_entries > 0 && !mappings.empty() &&
	    head->fmh_recs[head->fmh_entries - 1].fmr_physical == mappings.back().fmr_physical)
		head->fmh_recs[head->fmh_entries - 1].fmr_flags |= FMR_OF_LAST;
	return 0;
}

int FakeKernel::alloc()
{
	if (free_streams == 0)
		return -ENOSPC;
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const std::uint32_t id = --free_streams;
	std::ofstream(fdinfo / std::to_string(fd))
		<< "pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t2071\n"
		<< fmt::format("stream:\t{0}\nag_set:\t{1}-{2}\nfiles:\t{0}\nbytes:\t{3}\n", id,
			       id * 4, id * 4 + 3, id * fake_block);
	return fd;
}

int FakeKernel::geometry(wsfs_geometry *argument) const
{
	*argument = {};
	argument->blocksize = fake_block;
	argument->agblocks = fake_ag_blocks;
	argument->agcount = ag_count;
	argument->streams = free_streams;
	argument->lower_major = 259;
	argument->lower_minor = 1;
	dev.copy(argument->dev, sizeof(argument->dev) - 1);
	return 0;
}

int FakeKernel::file_info(int fd, wsfs_file_info *argument)
{
	const FakeFile *file = find(fd);

	*argument = {};
	if (file && file->stream) {
		argument->flags = WSFS_FILE_STREAM | file->flags;
		argument->stream = *file->stream;
		argument->home_agno = file->home_ag;
	}
	if (file)
		argument->dir_how = file->dir_how;
	return 0;
}

FakeHost::FakeHost() : before_(std::filesystem::current_path())
{
	std::string path = std::filesystem::temp_directory_path() / "wsfs-test-XXXXXX";

	if (!mkdtemp(path.data()))
		throw std::runtime_error("mkdtemp: " + std::string(std::strerror(errno)));
	root = path;
	files = root / "files";
	kernel.fdinfo = root / "proc" / "fdinfo";
	std::filesystem::create_directories(files);
	std::filesystem::create_directories(kernel.fdinfo);
	write(root / "proc" / "mountinfo", "");
	std::filesystem::current_path(files);
}

FakeHost::~FakeHost()
{
	std::error_code ignored;

	std::filesystem::current_path(before_, ignored);
	std::filesystem::remove_all(root, ignored);
}

std::string FakeHost::add(const std::string &name, const FakeFile &file,
			  std::optional<std::uint64_t> size)
{
	struct stat st = {};
	std::uint64_t end = 0;

	for (const FakeExtent &extent : file.extents)
		end = std::max(end, (extent.offset + extent.length) * fake_block);
	if (!std::filesystem::is_directory(name)) {
		write(name, "");
		std::filesystem::resize_file(name, size.value_or(end));
	}
	if (stat(name.c_str(), &st) != 0)
		throw std::runtime_error(name);
	kernel.files[{st.st_dev, st.st_ino}] = file;
	return name;
}

void FakeHost::add_streams(const std::vector<std::string> &ag_sets, std::size_t reserved) const
{
	const auto dir = root / "sys" / kernel.dev;

	write(dir / "lower", "xfs\n");
	write(dir / "hints_reset", "0\n");
	write(dir / "streams", fmt::format("{}\n", ag_sets.size()));
	for (std::size_t id = 0; id < ag_sets.size(); id++) {
		const auto stream = dir / "stream" / std::to_string(id);

		write(stream / "ag_set", ag_sets[id] + "\n");
		write(stream / "reserved", id < reserved ? "1\n" : "0\n");
		write(stream / "files", fmt::format("{}\n", id));
		write(stream / "homed", fmt::format("{}\n", 10 * id));
		write(stream / "missed", fmt::format("{}\n", id / 2));
		write(stream / "anchored", fmt::format("{}\n", 100 * id));
		write(stream / "overflowed", fmt::format("{}\n", id == 2 ? 5 : 0));
		write(stream / "overflow_order", id == 2 ? "3 1 0\n" : "\n");
		write(stream / "bytes", fmt::format("{}\n", id * fake_block));
	}
}

void FakeHost::write(const std::filesystem::path &path, std::string_view text)
{
	if (path.has_parent_path())
		std::filesystem::create_directories(path.parent_path());
	std::ofstream out(path);

	out << text;
	out.close();
	if (!out)
		throw std::runtime_error("cannot write " + path.string());
}
