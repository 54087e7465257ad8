// SPDX-License-Identifier: GPL-2.0
// A drawing of boxes and words, as SVG or PNG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wsctl
{

struct Colour {
	std::uint8_t red = 0;
	std::uint8_t green = 0;
	std::uint8_t blue = 0;
};

// In pixels; y grows downwards.
struct Box {
	double x = 0;
	double y = 0;
	double width = 0;
	double height = 0;
	Colour fill;
	std::string tip; // shown by what shows SVG, when the mouse is on it
};

struct Words {
	enum class Anchor { left, middle, right };

	double x = 0;
	double y = 0; // of the base line
	std::string text;
	Anchor anchor = Anchor::left;
	double size = 12;
};

struct Drawing {
	double width = 0;
	double height = 0;
	std::vector<Box> boxes;
	std::vector<Words> words;
};

std::string svg_text(const Drawing &drawing);
// Both throw ws::Error where the file cannot be written in full.
void write_svg(const std::string &path, const Drawing &drawing);
void write_png(const std::string &path, const Drawing &drawing);

} // namespace wsctl
