// SPDX-License-Identifier: GPL-2.0
// The few calls into the kernel that say anything about streams and places.
// Tests put their own kernel here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ws
{

class Kernel
{
public:
	Kernel() = default;
	Kernel(const Kernel &) = delete;
	Kernel &operator=(const Kernel &) = delete;
	virtual ~Kernel() = default;

	// ioctl(2): its result, or -errno.
	virtual int ioctl(int fd, unsigned long request, void *argument) noexcept = 0;
	// The id that /proc/self/mountinfo has for the mount of an open file.
	virtual std::optional<std::uint64_t> mount_id(int fd) noexcept = 0;
};

class LinuxKernel final : public Kernel
{
public:
	int ioctl(int fd, unsigned long request, void *argument) noexcept override;
	std::optional<std::uint64_t> mount_id(int fd) noexcept override;
};

// Where to look: the running machine, or what a test made up.
struct Host {
	Kernel &kernel;
	std::filesystem::path sysfs = "/sys/fs/wsfs";
	std::filesystem::path proc_self = "/proc/self";
	std::filesystem::path proc = "/proc";
};

} // namespace ws
