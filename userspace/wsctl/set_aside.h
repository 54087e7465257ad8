// SPDX-License-Identifier: GPL-2.0
// Streams that mount options set aside: for write life time hints, or for the numbered
// interface. docs/interface.md says which they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

namespace wsctl
{

// What a stream is set aside for: one of the two.
struct SetAside {
	std::vector<std::string_view> hints; // "short", …
	std::uint32_t number = 0;	     // 1-based

	// In one word: "hints" or "numbered".
	[[nodiscard]] std::string_view word() const noexcept;
	// "hints: short, medium", "number 2"
	[[nodiscard]] std::string text() const;
};

// @options as /proc/self/mountinfo has them, of a mount with @streams streams.
// Nothing for a stream that can be reserved.
std::optional<SetAside> set_aside(std::string_view options, std::size_t streams, std::uint32_t id);
// Null for a stream that can be reserved.
Json set_aside_json(const std::optional<SetAside> &aside);

} // namespace wsctl
