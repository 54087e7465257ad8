// SPDX-License-Identifier: GPL-2.0
// Looks at all files of trees with many threads, and hands over what was found
// out in the order of the walk, in bounded memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "context.h"
#include "placement.h"
#include "walk.h"

namespace wsctl
{

// What came of a file: a result of whatever type, or an error.
struct ScanOutcome {
	const FoundFile &file;
	std::shared_ptr<void> result;
	std::optional<ws::Error> error;
};

class Progress;

// @look runs in several threads at once, @found in the caller's. Files in trees
// that vanish are passed over. Ends early where nobody takes the output.
void scan_files(const Context &context, std::vector<Operand> operands, Progress &progress,
		const std::function<std::shared_ptr<void>(const FoundFile &, OpenFile &&)> &look,
		const std::function<void(ScanOutcome &&)> &found);

template <typename Result>
void scan(const Context &context, std::vector<Operand> operands, Progress &progress,
	  const std::function<Result(const FoundFile &, OpenFile &&)> &look,
	  const std::function<void(const FoundFile &, Result &&)> &found,
	  const std::function<void(const ws::Error &)> &failed)
{
	scan_files(
		context, std::move(operands), progress,
		[&](const FoundFile &file, OpenFile &&open) -> std::shared_ptr<void> {
			return std::make_shared<Result>(look(file, std::move(open)));
		},
		[&](ScanOutcome &&outcome) {
			if (outcome.error)
				failed(*outcome.error);
			else
				found(outcome.file,
				      std::move(*static_cast<Result *>(outcome.result.get())));
		});
}

} // namespace wsctl
