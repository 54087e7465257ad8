// SPDX-License-Identifier: GPL-2.0
// JUnit's XML, as CI systems read it. Test cases are written as they come; the
// totals at the top are filled in at the end.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace wsctl
{

// Text and attribute values; what XML cannot hold becomes U+FFFD.
std::string xml_escape(std::string_view text);

class JunitFile
{
public:
	// Throws ws::Error where the file cannot be made.
	explicit JunitFile(std::string path);

	void passed(std::string_view name);
	void skipped(std::string_view name, std::string_view why);
	void failed(std::string_view name, const std::vector<std::string> &problems);
	void error(std::string_view name, std::string_view problem);
	// Throws ws::Error where not all could be written.
	void finish();

private:
	void begin_case(std::string_view name);
	[[nodiscard]] std::string head() const;

	std::string path_;
	std::ofstream out_;
	std::uint64_t tests_ = 0;
	std::uint64_t failures_ = 0;
	std::uint64_t errors_ = 0;
	std::uint64_t skipped_ = 0;
};

} // namespace wsctl
