// SPDX-License-Identifier: GPL-2.0
#include <ws/extents.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <vector>

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include <ws/error.h>

namespace ws
{

namespace
{

constexpr std::uint32_t batch = 512;

// One FIEMAP call's worth.
class Batch
{
public:
	Batch() : memory_((header + batch * sizeof(fiemap_extent)) / sizeof(std::uint64_t)) {}

	// The number of extents from @start (in bytes) on.
	std::uint32_t read(const Host &host, int fd, const std::string &path, std::uint64_t start)
	{
		auto *map = reinterpret_cast<fiemap *>(memory_.data());

		*map = {};
		map->fm_start = start;
		map->fm_length = std::numeric_limits<std::uint64_t>::max() - start;
		map->fm_flags = FIEMAP_FLAG_SYNC;
		map->fm_extent_count = batch;
		const int result = host.kernel.ioctl(fd, FS_IOC_FIEMAP, map);
		if (result < 0)
			throw Error(path, "FS_IOC_FIEMAP", -result);
		return std::min(map->fm_mapped_extents, batch);
	}

	const fiemap_extent &operator[](std::uint32_t i) const
	{
		return reinterpret_cast<const fiemap *>(memory_.data())->fm_extents[i];
	}

private:
	static constexpr std::size_t header = sizeof(fiemap);
	std::vector<std::uint64_t> memory_;
};

// Turns what FIEMAP says into rows without a gap.
class Rows
{
public:
	Rows(const FileShape &shape, const std::function<void(const Extent &)> &visit)
	    : shape_(shape), visit_(visit)
	{
	}

	void add(const fiemap_extent &raw)
	{
		constexpr std::uint32_t nowhere =
			FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DATA_INLINE;
		const std::uint64_t offset = raw.fe_logical / sector_size;
		const std::uint64_t whole = raw.fe_length / sector_size;
		const std::uint64_t length =
			std::min(whole, shape_.end - std::min(offset, shape_.end));

		if (length == 0)
			return;
		if (raw.fe_flags & nowhere) {
			// Written since the map was asked for: not placed yet.
			position_ = offset + length;
			return;
		}
		fill(offset);
		visit_({.index = index_++,
			.offset = offset,
			.length = length,
			.sector = raw.fe_physical / sector_size,
			.unwritten = (raw.fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0,
			.shared = (raw.fe_flags & FIEMAP_EXTENT_SHARED) != 0});
		position_ = offset + length;
	}

	void finish(std::uint64_t size_end)
	{
		if (index_ > 0)
			fill(size_end);
	}

private:
	void fill(std::uint64_t to)
	{
		if (position_ < to)
			visit_({.index = index_++,
				.offset = position_,
				.length = to - position_,
				.sector = std::nullopt});
		position_ = std::max(position_, to);
	}

	const FileShape &shape_;
	const std::function<void(const Extent &)> &visit_;
	std::uint64_t position_ = 0;
	std::uint64_t index_ = 0;
};

} // namespace

FileShape file_shape(const Host &host, int fd, const std::string &path, const Geometry &geometry)
{
	struct fsxattr attr = {};
	struct stat st = {};
	FileShape shape;

	if (fstat(fd, &st) != 0)
		throw Error(path, "fstat", errno);
	if (!S_ISREG(st.st_mode))
		throw Error(path, "is not a regular file", "name regular files");
	const auto block = std::uint64_t{std::max(geometry.block_size, sector_size)};
	const auto blocks = (static_cast<std::uint64_t>(st.st_size) + block - 1) / block;
	shape.size_end = blocks * (block / sector_size);
	shape.end = shape.size_end;
	if (host.kernel.ioctl(fd, FS_IOC_FSGETXATTR, &attr) >= 0) {
		// XFS counts preallocation behind the end of such files as theirs.
		constexpr std::uint32_t beyond = FS_XFLAG_PREALLOC | FS_XFLAG_EXTSIZE;

		if (attr.fsx_xflags & beyond)
			shape.end = std::numeric_limits<std::uint64_t>::max();
		shape.realtime = (attr.fsx_xflags & FS_XFLAG_REALTIME) != 0;
	}
	return shape;
}

void walk_extents(const Host &host, int fd, const std::string &path, const FileShape &shape,
		  const std::function<void(const Extent &)> &visit)
{
	Batch extents;
	Rows rows(shape, visit);
	std::uint64_t start = 0;
	bool last = false;

	while (!last) {
		const std::uint32_t count = extents.read(host, fd, path, start);

		if (count == 0)
			break;
		for (std::uint32_t i = 0; i < count; i++)
			rows.add(extents[i]);
		const fiemap_extent &end = extents[count - 1];
		const std::uint64_t next = end.fe_logical + end.fe_length;
		last = (end.fe_flags & FIEMAP_EXTENT_LAST) != 0 || next <= start ||
		       next / sector_size >= shape.end;
		start = next;
	}
	rows.finish(shape.size_end);
}

} // namespace ws
