// SPDX-License-Identifier: GPL-2.0
#include "relocate_file.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ws/error.h>

#include "end_request.h"

namespace wsctl
{

namespace
{

// Below this there is no sense in looking for room for less.
constexpr std::uint64_t least_batch = std::uint64_t{256} * 1024;

// Errors of a file that changes its size just then.
bool is_passing(int code)
{
	return code == EINVAL || code == EAGAIN || code == EINTR;
}

} // namespace

RelocatePlan FileMover::look() const
{
	const OpenFile &file = job_.file;
	struct stat st = {};

	if (fstat(file.fd.get(), &st) != 0)
		throw ws::Error(file.path, "fstat", errno);
	// The file may have grown since it was opened.
	const ws::FileShape shape =
		ws::file_shape(context_.host, file.fd.get(), file.path, file.filesystem.geometry);
	RelocatePlanner planner(
		RelocatePlanner::Rules{.home = job_.home,
				       .size = static_cast<std::uint64_t>(st.st_size),
				       .shared = job_.shared});
	ws::walk_extents(
		context_.host, file.fd.get(), file.path, shape,
		[&](const ws::Extent &extent) { planner.add(extent, file.group_of(extent)); });
	return std::move(planner).take();
}

bool FileMover::copy(const Piece &piece, int donor)
{
	constexpr std::uint64_t most = 1 << 20;
	std::uint64_t done = 0;

	while (done < piece.length) {
		buffer_.resize(std::min(piece.length - done, most));
		const ssize_t got = pread(job_.file.fd.get(), buffer_.data(), buffer_.size(),
					  static_cast<off_t>(piece.file_offset + done));

		if (got < 0)
			throw ws::Error(job_.file.path, "read", errno);
		if (got == 0)
			return false;
		for (ssize_t written = 0; written < got;) {
			const ssize_t put =
				pwrite(donor, buffer_.data() + written,
				       static_cast<std::size_t>(got - written),
				       static_cast<off_t>(piece.donor_offset + done) + written);

			if (put <= 0)
				throw ws::Error(job_.file.path, "write to a donor", errno);
			written += put;
		}
		done += static_cast<std::uint64_t>(got);
	}
	return true;
}

// How many bytes the file shares with the donor now.
std::uint64_t FileMover::dedupe(const Piece &piece, int donor) const
{
	// Its list of files, here of one, is behind it in memory.
	std::array<std::uint64_t, (sizeof(file_dedupe_range) + sizeof(file_dedupe_range_info)) /
					  sizeof(std::uint64_t)>
		memory = {};
	auto *request = reinterpret_cast<file_dedupe_range *>(memory.data());
	file_dedupe_range_info &info = request->info[0];

	request->src_offset = piece.donor_offset;
	request->src_length = piece.length;
	request->dest_count = 1;
	info.dest_fd = job_.file.fd.get();
	info.dest_offset = piece.file_offset;
	const int result = context_.host.kernel.ioctl(donor, FIDEDUPERANGE, request);
	const int code = result < 0 ? -result : std::max(0, -info.status);
	if (code != 0 && !is_passing(code))
		throw ws::Error(job_.file.path, "FIDEDUPERANGE", code);
	if (code != 0 || info.status == FILE_DEDUPE_RANGE_DIFFERS)
		return 0;
	return std::min<std::uint64_t>(info.bytes_deduped, piece.length);
}

std::uint64_t FileMover::exchange(const Piece &piece, std::uint64_t step, int donor)
{
	const std::uint64_t block = job_.file.filesystem.geometry.block_size;
	std::uint64_t moved = 0;

	for (std::uint64_t done = 0; done < piece.length; done += step) {
		const Piece part{.file_offset = piece.file_offset + done,
				 .donor_offset = piece.donor_offset + done,
				 .length = std::min(step, piece.length - done)};

		moved += dedupe(part, donor);
		// At once: a write to a shared block goes to another one. The last
		// part of the file goes with all of the donor.
		if (part.length % block == 0 &&
		    fallocate(donor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      static_cast<off_t>(part.donor_offset),
			      static_cast<off_t>(part.length)) != 0)
			throw ws::Error(job_.file.path, "fallocate of a donor", errno);
	}
	return moved;
}

std::uint64_t FileMover::move_batch(const Batch &batch, std::uint64_t step, int donor)
{
	std::vector<Piece> copied;
	std::uint64_t moved = 0;

	for (const Piece &piece : batch.pieces) {
		if (copy(piece, donor))
			copied.push_back(piece);
	}
	// The file's blocks are safe on the disk; so have to be those it is to get.
	if (fsync(donor) != 0)
		throw ws::Error(job_.file.path, "fsync of a donor", errno);
	for (const Piece &piece : copied)
		moved += exchange(piece, step, donor);
	return moved;
}

std::uint64_t FileMover::move_strays(const std::vector<Stray> &strays, unsigned number,
				     const Tick &tick)
{
	const std::uint64_t block = job_.file.filesystem.geometry.block_size;
	const Effort effort = effort_of(number, pace_.rate(), block);
	std::uint64_t most = effort.batch;
	std::uint64_t total = 0;
	Batcher batcher(strays, block);

	while (EndRequest::noted() == 0) {
		const auto batch = batcher.next(most);

		if (!batch)
			break;
		auto donor = donors_.lend(job_.file, job_.home, job_.order, batch->donor_bytes);
		if (!donor && most > least_batch) {
			most = std::max(most / 4, least_batch);
			batcher.again();
			continue;
		}
		if (!donor) {
			full_ = true;
			break;
		}
		const std::uint64_t moved = move_batch(*batch, effort.exchange, donor->fd());
		total += moved;
		donor.reset();
		tick(moved);
		pace_.done(batch->bytes);
	}
	return total;
}

Relocated FileMover::move(const RelocatePlan &plan, const Tick &tick)
{
	Relocated result{.plan = plan, .left = plan};
	unsigned number = 0;

	full_ = false;
	while (result.left.stray_bytes > 0 && number < relocate_tries && !full_ &&
	       EndRequest::noted() == 0) {
		const std::uint64_t moved = move_strays(result.left.strays, number, tick);

		result.moved += moved;
		// Not a try where there was simply more than is looked at at once.
		if (!result.left.more || moved == 0)
			number++;
		result.left = look();
	}
	result.full = full_;
	return result;
}

} // namespace wsctl
