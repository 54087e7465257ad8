// SPDX-License-Identifier: GPL-2.0
#include "junit.h"

#include <cerrno>

#include <fmt/format.h>

#include <ws/error.h>

#include "text.h"

namespace wsctl
{

std::string xml_escape(std::string_view text)
{
	constexpr std::string_view replacement = "\xef\xbf\xbd";
	// Names come through escape() and are UTF-8 without control characters;
	// what the rest holds is made so here.
	std::string safe;

	for (const char c : is_utf8(text) ? std::string(text) : escape(text)) {
		const auto byte = static_cast<unsigned char>(c);

		switch (c) {
		case '&':
			safe += "&amp;";
			break;
		case '<':
			safe += "&lt;";
			break;
		case '>':
			safe += "&gt;";
			break;
		case '"':
			safe += "&quot;";
			break;
		case '\n':
			safe += "&#10;";
			break;
		case '\t':
			safe += "&#9;";
			break;
		default:
			if (byte < 0x20)
				safe += replacement;
			else
				safe += c;
		}
	}
	return safe;
}

JunitFile::JunitFile(std::string path) : path_(std::move(path)), out_(path_, std::ios::trunc)
{
	if (!out_)
		throw ws::Error(path_, "open for writing", errno);
	out_ << head();
}

// As long at the end as at the beginning.
std::string JunitFile::head() const
{
	constexpr std::size_t room = 100;
	const std::string totals =
		fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests_,
			    failures_, errors_, skipped_);

	return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<testsuites>\n<testsuite name=\"wsctl check\" {:<{}}>\n",
			   totals, room);
}

void JunitFile::begin_case(std::string_view name)
{
	tests_++;
	out_ << fmt::format("<testcase classname=\"wsctl.check\" name=\"{}\"",
			    xml_escape(escape(name)));
}

void JunitFile::passed(std::string_view name)
{
	begin_case(name);
	out_ << "/>\n";
}

void JunitFile::skipped(std::string_view name, std::string_view why)
{
	skipped_++;
	begin_case(name);
	out_ << fmt::format("><skipped message=\"{}\"/></testcase>\n", xml_escape(why));
}

void JunitFile::failed(std::string_view name, const std::vector<std::string> &problems)
{
	failures_++;
	begin_case(name);
	out_ << '>';
	for (const std::string &problem : problems)
		out_ << fmt::format("<failure message=\"{}\"/>", xml_escape(problem));
	out_ << "</testcase>\n";
}

void JunitFile::error(std::string_view name, std::string_view problem)
{
	errors_++;
	begin_case(name);
	out_ << fmt::format("><error message=\"{}\"/></testcase>\n", xml_escape(problem));
}

void JunitFile::finish()
{
	out_ << "</testsuite>\n</testsuites>\n";
	out_.seekp(0);
	// Where there is no going back, as in a pipe, the totals stay 0.
	if (!out_.fail())
		out_ << head();
	else
		out_.clear(out_.rdstate() & ~std::ios::failbit);
	out_.close();
	if (!out_)
		throw ws::Error(path_, "cannot be written in full", "is the disk full?");
}

} // namespace wsctl
