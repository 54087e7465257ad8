// SPDX-License-Identifier: GPL-2.0
// How far a run of fio is, from what its files hold.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "context.h"
#include "fio_plan.h"
#include "progress.h"

namespace wsctl
{

// "wsfs, round 1 of 3: 120 MiB, 30.0 MiB/s, 0:07 left"; @bytes are done.
std::string fio_progress_text(const std::string &what, const FioPlan &plan, std::uint64_t bytes,
			      double seconds);

class FioProgress
{
public:
	// @plan has to live as long.
	FioProgress(const Context &context, std::string what, const FioPlan &plan, std::string dir);

	// Looks, and shows what it sees.
	void tick();

private:
	std::string what_;
	const FioPlan &plan_;
	std::string dir_;
	std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
	bool shown_;
	Progress line_;
};

} // namespace wsctl
