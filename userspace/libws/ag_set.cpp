// SPDX-License-Identifier: GPL-2.0
#include <ws/ag_set.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <ws/parse.h>

namespace ws
{

namespace
{

std::optional<AgSet::Range> parse_range(std::string_view text)
{
	const auto dash = text.find('-');
	const auto first = parse_id(text.substr(0, dash));
	const auto last = dash == std::string_view::npos ? first : parse_id(text.substr(dash + 1));

	if (!first || !last || *first > *last)
		return std::nullopt;
	return AgSet::Range{.first = *first, .last = *last};
}

} // namespace

std::optional<AgSet> AgSet::parse(std::string_view text)
{
	AgSet set;

	text = trim(text);
	while (!text.empty()) {
		const auto comma = text.find(',');
		const auto range = parse_range(text.substr(0, comma));

		if (!range || (!set.ranges_.empty() && range->first <= set.ranges_.back().last))
			return std::nullopt;
		if (!set.ranges_.empty() && range->first == set.ranges_.back().last + 1)
			set.ranges_.back().last = range->last;
		else
			set.ranges_.push_back(*range);
		if (comma == std::string_view::npos)
			break;
		text.remove_prefix(comma + 1);
		if (text.empty())
			return std::nullopt;
	}
	return set;
}

AgSet AgSet::up_to(std::uint32_t count)
{
	AgSet set;

	if (count > 0)
		set.ranges_.push_back({.first = 0, .last = count - 1});
	return set;
}

void AgSet::add(std::uint32_t agno)
{
	auto next = std::ranges::upper_bound(ranges_, agno, {}, &Range::first);

	if (next != ranges_.begin()) {
		auto before = std::prev(next);

		if (agno <= before->last)
			return;
		if (agno == before->last + 1) {
			before->last = agno;
			if (next != ranges_.end() && next->first == agno + 1) {
				before->last = next->last;
				ranges_.erase(next);
			}
			return;
		}
	}
	if (next != ranges_.end() && next->first == agno + 1)
		next->first = agno;
	else
		ranges_.insert(next, Range{.first = agno, .last = agno});
}

bool AgSet::contains(std::uint32_t agno) const noexcept
{
	const auto next = std::ranges::upper_bound(ranges_, agno, {}, &Range::first);

	return next != ranges_.begin() && agno <= std::prev(next)->last;
}

std::uint64_t AgSet::size() const noexcept
{
	std::uint64_t count = 0;

	for (const Range &range : ranges_)
		count += std::uint64_t{range.last} - range.first + 1;
	return count;
}

std::string AgSet::str() const
{
	std::string text;

	for (const Range &range : ranges_) {
		if (!text.empty())
			text += ',';
		text += range.first == range.last ? fmt::format("{}", range.first)
						  : fmt::format("{}-{}", range.first, range.last);
	}
	return text;
}

} // namespace ws
