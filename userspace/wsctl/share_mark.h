// SPDX-License-Identifier: GPL-2.0
// XFS's mark of a file that has shared blocks. It stays when nothing is shared
// any more, and sends direct writes of parts of blocks through the page cache.
#pragma once

#include <cstdint>
#include <optional>

#include "context.h"
#include "placement.h"

namespace wsctl
{

// Whether the file has the mark; @block is the start of one with data. Nothing
// for those whom the kernel does not tell (it takes CAP_SYS_RAWIO).
std::optional<bool> has_share_mark(const Context &context, const OpenFile &file,
				   std::uint64_t block);

// Takes it off: nothing is shared, and @block is the start of one with data. To
// XFS that is a write, so the time of the last one is put back. That is safe only
// where nobody else has the file open: false where somebody has, or where the
// file has capabilities or privileges that a write would take away. Throws ws::Error.
bool clear_share_mark(const Context &context, const OpenFile &file, std::uint64_t block);

} // namespace wsctl
