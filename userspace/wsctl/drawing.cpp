// SPDX-License-Identifier: GPL-2.0
#include "drawing.h"

#include <cerrno>
#include <fstream>
#include <memory>

#include <cairo.h>
#include <fmt/format.h>

#include <ws/error.h>

#include "junit.h"

namespace wsctl
{

namespace
{

constexpr const char *full_disk = "is the disk full?";

std::string_view anchor_name(Words::Anchor anchor)
{
	switch (anchor) {
	case Words::Anchor::middle:
		return "middle";
	case Words::Anchor::right:
		return "end";
	case Words::Anchor::left:
		break;
	}
	return "start";
}

struct FreeSurface {
	void operator()(cairo_surface_t *surface) const noexcept { cairo_surface_destroy(surface); }
};

struct FreeCairo {
	void operator()(cairo_t *cairo) const noexcept { cairo_destroy(cairo); }
};

void set_colour(cairo_t *cairo, Colour colour)
{
	constexpr double most = 255;

	cairo_set_source_rgb(cairo, colour.red / most, colour.green / most, colour.blue / most);
}

void paint(cairo_t *cairo, const Drawing &drawing)
{
	cairo_set_source_rgb(cairo, 1, 1, 1);
	cairo_paint(cairo);
	for (const Box &box : drawing.boxes) {
		set_colour(cairo, box.fill);
		cairo_rectangle(cairo, box.x, box.y, box.width, box.height);
		cairo_fill(cairo);
	}
	cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
			       CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_source_rgb(cairo, 0, 0, 0);
	for (const Words &words : drawing.words) {
		cairo_text_extents_t extents{};
		double shift = 0;

		cairo_set_font_size(cairo, words.size);
		cairo_text_extents(cairo, words.text.c_str(), &extents);
		if (words.anchor == Words::Anchor::middle)
			shift = extents.x_advance / 2;
		else if (words.anchor == Words::Anchor::right)
			shift = extents.x_advance;
		cairo_move_to(cairo, words.x - shift, words.y);
		cairo_show_text(cairo, words.text.c_str());
	}
}

cairo_status_t write_bytes(void *out, const unsigned char *bytes, unsigned length)
{
	auto &stream = *static_cast<std::ofstream *>(out);

	stream.write(reinterpret_cast<const char *>(bytes), length);
	return stream ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

std::ofstream open_file(const std::string &path)
{
	std::ofstream out(path, std::ios::binary | std::ios::trunc);

	if (!out)
		throw ws::Error(path, "open for writing", errno);
	return out;
}

void close_file(const std::string &path, std::ofstream &out)
{
	out.close();
	if (!out)
		throw ws::Error(path, "cannot be written in full", full_disk);
}

} // namespace

std::string svg_text(const Drawing &drawing)
{
	std::string svg = fmt::format(
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
		"viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n"
		"<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
		drawing.width, drawing.height);

	for (const Box &box : drawing.boxes) {
		svg += fmt::format("<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" "
				   "fill=\"#{:02x}{:02x}{:02x}\"",
				   box.x, box.y, box.width, box.height, box.fill.red,
				   box.fill.green, box.fill.blue);
		svg += box.tip.empty()
			       ? "/>\n"
			       : fmt::format("><title>{}</title></rect>\n", xml_escape(box.tip));
	}
	for (const Words &words : drawing.words)
		svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\" font-size=\"{:g}\" "
				   "text-anchor=\"{}\">{}</text>\n",
				   words.x, words.y, words.size, anchor_name(words.anchor),
				   xml_escape(words.text));
	return svg + "</svg>\n";
}

void write_svg(const std::string &path, const Drawing &drawing)
{
	std::ofstream out = open_file(path);

	out << svg_text(drawing);
	close_file(path, out);
}

void write_png(const std::string &path, const Drawing &drawing)
{
	const std::unique_ptr<cairo_surface_t, FreeSurface> surface(
		cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(drawing.width),
					   static_cast<int>(drawing.height)));
	const std::unique_ptr<cairo_t, FreeCairo> cairo(cairo_create(surface.get()));
	std::ofstream out = open_file(path);

	paint(cairo.get(), drawing);
	cairo_status_t status = cairo_status(cairo.get());
	if (status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_write_to_png_stream(surface.get(), write_bytes, &out);
	if (status != CAIRO_STATUS_SUCCESS)
		throw ws::Error(path, fmt::format("cairo: {}", cairo_status_to_string(status)),
				status == CAIRO_STATUS_WRITE_ERROR ? full_disk : "use --svg");
	close_file(path, out);
}

} // namespace wsctl
