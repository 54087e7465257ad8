// SPDX-License-Identifier: GPL-2.0
// Values of options that are more than a number: rates, NAME:SLOT, FILE=ID, and
// the settings of fio gen.
#include <string>

#include <hold/protocol.h>
#include <ws/error.h>

#include "fio_job.h"
#include "fio_scenario.h"
#include "fuzz.hpp"
#include "held.h"
#include "operands.h"
#include "rate.h"

namespace
{

void try_rate(std::string_view text)
{
	const auto rate = wsctl::parse_rate(text);

	if (!rate)
		return;
	require(*rate > 0);
	require(wsctl::parse_rate(std::to_string(*rate)) == rate);
	require(wsctl::pause_for(*rate, text.size(), 1) >= 0);
}

void try_slot(const std::string &text)
{
	try {
		const wsctl::HeldSlot held = wsctl::parse_held_slot(text);

		require(hold::is_name(held.name));
		require(text.starts_with(held.name));
	} catch (const ws::Error &error) {
		require(!error.advice().empty());
	}
}

void try_file_stream(const std::string &text)
{
	try {
		const wsctl::FileStreamOperand operand = wsctl::parse_file_stream(text);

		require(!operand.path.empty() && text.starts_with(operand.path + "="));
	} catch (const ws::Error &error) {
		require(!error.advice().empty());
	}
}

// One setting a line. The job that comes of it can be read again.
void try_settings(std::string_view text)
{
	constexpr std::size_t most_sections = 64;
	const auto &all = wsctl::fio_scenarios();
	wsctl::FioScenario scenario = all[text.size() % all.size()];

	try {
		while (!text.empty()) {
			const auto end = std::min(text.find('\n'), text.size());

			wsctl::apply_setting(scenario, std::string(text.substr(0, end)));
			text.remove_prefix(std::min(end + 1, text.size()));
		}
		const wsctl::FioJob job = wsctl::make_fio_job(scenario, "fuzz");
		if (job.sections.size() > most_sections)
			return;
		const wsctl::FioJob read = wsctl::parse_fio_job(wsctl::format(job), "fuzz");
		require(read.streams == job.streams);
		require(read.sections.size() == job.sections.size());
		for (std::size_t i = 0; i < job.sections.size(); i++)
			require(read.sections[i].stream == job.sections[i].stream);
	} catch (const ws::Error &) {
		return;
	}
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string text(text_of(data, size));

	try_rate(text);
	try_slot(text);
	try_file_stream(text);
	try_settings(text);
	return 0;
}
