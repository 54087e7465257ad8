// SPDX-License-Identifier: GPL-2.0
// A set of allocation groups, written as in sysfs: "8-11,32-33".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws
{

class AgSet
{
public:
	struct Range {
		std::uint32_t first;
		std::uint32_t last;
		bool operator==(const Range &) const = default;
	};

	AgSet() = default;
	// Nothing where @text is no list of ascending ranges.
	static std::optional<AgSet> parse(std::string_view text);

	// The AGs from 0 to @count - 1.
	static AgSet up_to(std::uint32_t count);

	void add(std::uint32_t agno);
	[[nodiscard]] bool contains(std::uint32_t agno) const noexcept;
	[[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
	[[nodiscard]] std::uint64_t size() const noexcept;
	[[nodiscard]] const std::vector<Range> &ranges() const noexcept { return ranges_; }
	[[nodiscard]] std::string str() const;
	bool operator==(const AgSet &) const = default;

private:
	std::vector<Range> ranges_; // ascending, with gaps between them
};

} // namespace ws
