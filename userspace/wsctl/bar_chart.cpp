// SPDX-License-Identifier: GPL-2.0
#include "bar_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "text.h"

namespace wsctl
{

namespace
{

// In pixels.
constexpr double left = 80;
constexpr double top = 80;
constexpr double height = 260;
constexpr double bottom = 50;
constexpr double bar_width = 26;
constexpr double gap = 30; // between groups
constexpr double least_width = 420;
constexpr Colour grid{.red = 0xdd, .green = 0xdd, .blue = 0xdd};
constexpr std::array colours{Colour{.red = 0x8c, .green = 0x8c, .blue = 0x8c},
			     Colour{.red = 0x1f, .green = 0x6f, .blue = 0xb4},
			     Colour{.red = 0xd9, .green = 0x82, .blue = 0x2b}};

// The least of 1, 2, 5, 10, 20, … that is no less than @value.
double round_above(double value)
{
	const double power = std::pow(10, std::floor(std::log10(value)));

	for (const double step : {1.0, 2.0, 5.0}) {
		if (step * power >= value)
			return step * power;
	}
	return 10 * power;
}

struct Scale {
	bool logarithmic = false;
	double low = 0;	 // what the bottom line stands for
	double high = 1; // and the top line

	[[nodiscard]] double share(double value) const
	{
		if (!logarithmic)
			return std::clamp(value / high, 0.0, 1.0);
		if (value <= low)
			return 0;
		return std::min(std::log(value / low) / std::log(high / low), 1.0);
	}
	[[nodiscard]] std::vector<double> ticks() const
	{
		constexpr int linear_ticks = 4;
		std::vector<double> values;

		if (logarithmic) {
			const auto powers = static_cast<int>(std::lround(std::log10(high / low)));

			for (int i = 0; i <= powers; i++)
				values.push_back(low * std::pow(10, i));
			return values;
		}
		for (int i = 0; i <= linear_ticks; i++)
			values.push_back(high * i / linear_ticks);
		return values;
	}
};

Scale scale_for(const BarChart &chart)
{
	double least = 0;
	double most = 0;

	for (const BarGroup &group : chart.groups) {
		for (const double value : group.values) {
			if (value > 0)
				least = least == 0 ? value : std::min(least, value);
			most = std::max(most, value);
		}
	}
	if (most == 0)
		return {};
	if (!chart.logarithmic)
		return {.high = round_above(most)};
	// A bar that stands for the least is to be seen.
	const double low = std::pow(10, std::ceil(std::log10(least)) - 1);
	const double high = std::pow(10, std::ceil(std::log10(most)));
	return {.logarithmic = true, .low = low, .high = high > low ? high : low * 10};
}

std::string number(double value)
{
	return value >= 100 || value == std::floor(value) ? fmt::format("{:.0f}", value)
							  : fmt::format("{:.3g}", value);
}

Colour colour_of(std::size_t series)
{
	return colours.at(series % colours.size());
}

void draw_legend(Drawing &drawing, const BarChart &chart)
{
	constexpr double line = 44;
	constexpr double square = 10;
	constexpr double letter = 8;
	double x = left;

	for (std::size_t i = 0; i < chart.series.size(); i++) {
		drawing.boxes.push_back({.x = x,
					 .y = line - square,
					 .width = square,
					 .height = square,
					 .fill = colour_of(i),
					 .tip = ""});
		drawing.words.push_back(
			{.x = x + square + 4, .y = line, .text = escape(chart.series[i])});
		x += 3 * square + letter * static_cast<double>(chart.series[i].size());
	}
}

void draw_grid(Drawing &drawing, const Scale &scale)
{
	for (const double tick : scale.ticks()) {
		const double y = top + height * (1 - scale.share(tick));

		drawing.boxes.push_back({.x = left,
					 .y = y,
					 .width = drawing.width - left - gap / 2,
					 .height = 1,
					 .fill = grid,
					 .tip = ""});
		drawing.words.push_back({.x = left - 6,
					 .y = y + 4,
					 .text = number(tick),
					 .anchor = Words::Anchor::right});
	}
}

void draw_group(Drawing &drawing, const BarChart &chart, const Scale &scale, const BarGroup &group,
		double x)
{
	constexpr double drop = 20;
	const double middle = bar_width * static_cast<double>(chart.series.size()) / 2;

	drawing.words.push_back({.x = x + middle,
				 .y = top + height + drop,
				 .text = escape(group.label),
				 .anchor = Words::Anchor::middle});
	for (std::size_t i = 0; i < std::min(group.values.size(), chart.series.size()); i++) {
		const double tall = height * scale.share(group.values[i]);

		drawing.boxes.push_back({.x = x + bar_width * static_cast<double>(i),
					 .y = top + height - tall,
					 .width = bar_width - 2,
					 .height = tall,
					 .fill = colour_of(i),
					 .tip = fmt::format("{}: {} {}", chart.series[i],
							    number(group.values[i]), chart.unit)});
	}
}

} // namespace

Drawing draw_bars(const BarChart &chart)
{
	const double group_width = bar_width * static_cast<double>(chart.series.size()) + gap;
	const Scale scale = scale_for(chart);
	Drawing drawing{
		.width = std::max(left + group_width * static_cast<double>(chart.groups.size()) +
					  gap / 2,
				  least_width),
		.height = top + height + bottom,
		.boxes = {},
		.words = {}};
	double x = left + gap / 2;

	drawing.words.push_back({.x = left, .y = 22, .text = escape(chart.title), .size = 15});
	drawing.words.push_back({.x = left - 6,
				 .y = top - 14,
				 .text = escape(chart.unit),
				 .anchor = Words::Anchor::right,
				 .size = 11});
	draw_legend(drawing, chart);
	draw_grid(drawing, scale);
	for (const BarGroup &group : chart.groups) {
		draw_group(drawing, chart, scale, group, x);
		x += group_width;
	}
	return drawing;
}

} // namespace wsctl
