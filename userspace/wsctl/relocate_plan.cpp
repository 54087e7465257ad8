// SPDX-License-Identifier: GPL-2.0
#include "relocate_plan.h"

#include <algorithm>
#include <array>

namespace wsctl
{

void RelocatePlanner::stray(std::uint64_t offset, std::uint64_t length, std::uint32_t ag)
{
	plan_.stray_bytes += length;
	plan_.from.add(ag);
	if (!plan_.strays.empty() && !plan_.more) {
		Stray &last = plan_.strays.back();

		if (last.ag == ag && last.offset + last.length == offset) {
			last.length += length;
			return;
		}
	}
	if (plan_.strays.size() < rules_.most)
		plan_.strays.push_back({.offset = offset, .length = length, .ag = ag});
	else
		plan_.more = true;
}

void RelocatePlanner::add(const ws::Extent &extent, std::optional<std::uint32_t> ag)
{
	if (!extent.sector || !ag)
		return;
	const std::uint64_t offset = extent.offset * ws::sector_size;
	const std::uint64_t whole = extent.length * ws::sector_size;
	const bool data = !extent.unwritten && offset < rules_.size;

	plan_.shares = plan_.shares || extent.shared;
	if (data && !extent.shared && !plan_.own_block)
		plan_.own_block = offset;
	if (rules_.home.contains(*ag))
		return;
	if (extent.unwritten) {
		plan_.unwritten_bytes += whole;
		plan_.left.add(*ag);
	} else if (extent.shared && !rules_.shared) {
		plan_.shared_bytes += whole;
		plan_.left.add(*ag);
	} else if (data) {
		stray(offset, std::min(whole, rules_.size - offset), *ag);
	}
}

std::optional<Batch> Batcher::next(std::uint64_t most)
{
	Batch batch;
	std::uint64_t room = std::max(most / block_ * block_, block_);

	last_index_ = index_;
	last_done_ = done_;
	while (room > 0 && index_ < strays_.size()) {
		const Stray &stray = strays_[index_];
		const std::uint64_t length = std::min(room, stray.length - done_);
		const std::uint64_t blocks = (length + block_ - 1) / block_ * block_;

		batch.pieces.push_back({.file_offset = stray.offset + done_,
					.donor_offset = batch.donor_bytes,
					.length = length});
		batch.bytes += length;
		batch.donor_bytes += blocks;
		room -= std::min(room, blocks);
		done_ += length;
		if (done_ == stray.length) {
			index_++;
			done_ = 0;
		}
	}
	if (batch.pieces.empty())
		return std::nullopt;
	return batch;
}

Effort effort_of(unsigned number, std::uint64_t rate, std::uint64_t block)
{
	constexpr std::uint64_t kib = 1024;
	constexpr std::array<Effort, relocate_tries> efforts{
		Effort{.batch = 16 * kib * kib, .exchange = kib * kib},
		Effort{.batch = kib * kib, .exchange = 256 * kib},
		Effort{.batch = 256 * kib, .exchange = 64 * kib},
		Effort{.batch = 64 * kib, .exchange = 16 * kib},
		Effort{.batch = 16 * kib, .exchange = 4 * kib},
		Effort{.batch = 4 * kib, .exchange = 4 * kib},
	};
	const auto whole = [&](std::uint64_t bytes) {
		return std::max(bytes / block * block, block);
	};
	Effort effort = efforts.at(std::min<unsigned>(number, relocate_tries - 1));

	// Several batches a second, so that a limit is one at any moment.
	if (rate > 0)
		effort.batch = std::min(effort.batch, rate / 4);
	return {.batch = whole(effort.batch), .exchange = whole(effort.exchange)};
}

std::vector<std::uint32_t> ag_order(const ws::AgSet &home, std::optional<std::uint32_t> first,
				    std::uint64_t turn)
{
	std::vector<std::uint32_t> order;

	for (const ws::AgSet::Range &range : home.ranges()) {
		for (std::uint64_t ag = range.first; ag <= range.last; ag++)
			order.push_back(static_cast<std::uint32_t>(ag));
	}
	if (order.empty())
		return order;
	auto begin = order.begin() + static_cast<std::ptrdiff_t>(turn % order.size());
	if (first && home.contains(*first))
		begin = std::ranges::find(order, *first);
	std::ranges::rotate(order, begin);
	return order;
}

} // namespace wsctl
