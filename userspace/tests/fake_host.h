// SPDX-License-Identifier: GPL-2.0
// A machine that a test makes up: files in a temporary directory, and a
// kernel that answers the ioctls about them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fsmap.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include <linux/write_streams.h>
#include <linux/wsfs.h>

#include <ws/kernel.h>

// In blocks of 4096 bytes; AGs have 16384 of them (64 MiB).
struct FakeExtent {
	std::uint64_t offset;
	std::uint64_t block;
	std::uint64_t length;
	std::uint32_t flags = 0; // FIEMAP_EXTENT_*
};

constexpr std::uint64_t fake_block = 4096;
constexpr std::uint64_t fake_ag_blocks = 16384;

// The first block of an AG, and some way into it.
constexpr std::uint64_t in_ag(std::uint64_t agno, std::uint64_t block = 0)
{
	return agno * fake_ag_blocks + block;
}

struct FakeFile {
	std::vector<FakeExtent> extents;
	std::optional<std::uint32_t> stream = std::nullopt;
	std::uint32_t home_ag = 0;
	std::uint32_t flags = WSFS_FILE_HOMED; // beside WSFS_FILE_STREAM
	std::uint32_t xflags = 0;
	std::uint32_t dir_how = WSFS_DIR_DEFAULT;
};

enum class FakeType { wsfs, xfs, other };

class FakeKernel final : public ws::Kernel
{
public:
	int ioctl(int fd, unsigned long request, void *argument) noexcept override;
	std::optional<std::uint64_t> mount_id(int fd) noexcept override;

	FakeType type = FakeType::wsfs;
	// What is below this directory is on plain XFS.
	std::filesystem::path plain;
	std::string dev = "nvme0n1p1";
	std::uint32_t ag_count = 16;
	std::uint32_t stripe_unit = 0; // in blocks
	std::uint32_t stripe_width = 0;
	std::uint32_t rt_groups = 0;
	bool modern = true; // crc, reflink, rmapbt
	std::uint32_t free_streams = 4;
	std::uint64_t mount = 70;
	bool tells_usage = false;    // free space and inodes by AG
	std::vector<fsmap> mappings; // what GETFSMAP tells
	// By request: the errno to fail with.
	std::map<unsigned long, int> failures;
	std::map<std::pair<dev_t, ino_t>, FakeFile> files;
	// A signal that comes during SET, 0 for none.
	int signal_in_set = 0;
	// What SET was called with.
	std::vector<fs_write_stream_set> sets;
	std::vector<wsfs_dir_place> dir_places;
	std::atomic<int> fiemap_calls = 0;
	// Where ALLOC leaves what fdinfo shows.
	std::filesystem::path fdinfo;

private:
	int answer(int fd, unsigned long request, void *argument);
	[[nodiscard]] FakeType type_of(int fd) const;
	int fiemap(int fd, struct fiemap *map);
	int getfsmap(struct fsmap_head *head) const;
	int alloc();
	int geometry(wsfs_geometry *argument) const;
	int file_info(int fd, wsfs_file_info *argument);
	FakeFile *find(int fd);
};

class FakeHost
{
public:
	FakeHost();
	FakeHost(const FakeHost &) = delete;
	FakeHost &operator=(const FakeHost &) = delete;
	~FakeHost();

	[[nodiscard]] ws::Host host()
	{
		return {.kernel = kernel,
			.sysfs = root / "sys",
			.proc_self = root / "proc",
			.proc = root / "processes"};
	}
	// A file with these extents, as large as they say or @size bytes.
	std::string add(const std::string &name, const FakeFile &file,
			std::optional<std::uint64_t> size = std::nullopt);
	// sysfs with these AG sets; the first @reserved streams are held.
	void add_streams(const std::vector<std::string> &ag_sets, std::size_t reserved = 0) const;
	static void write(const std::filesystem::path &path, std::string_view text);

	std::filesystem::path root;
	std::filesystem::path files; // below root; the working directory
	FakeKernel kernel;

private:
	std::filesystem::path before_;
};
