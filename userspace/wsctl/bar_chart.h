// SPDX-License-Identifier: GPL-2.0
// Groups of bars side by side.
#pragma once

#include <string>
#include <vector>

#include "drawing.h"

namespace wsctl
{

struct BarGroup {
	std::string label;
	std::vector<double> values; // one for each series
};

struct BarChart {
	std::string title;
	std::string unit;
	std::vector<std::string> series;
	std::vector<BarGroup> groups;
	bool logarithmic = false;
};

Drawing draw_bars(const BarChart &chart);

} // namespace wsctl
