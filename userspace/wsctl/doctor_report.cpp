// SPDX-License-Identifier: GPL-2.0
#include "doctor_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "json.h"
#include "text.h"

namespace wsctl
{

bool is_well(const std::vector<Finding> &findings)
{
	return std::ranges::none_of(
		findings, [](const Finding &finding) { return finding.health == Health::fail; });
}

void write_findings(const Context &context, const std::vector<Finding> &findings, bool quiet)
{
	std::string subject;

	for (const Finding &finding : findings) {
		const bool bad = finding.health == Health::fail || finding.health == Health::warn;
		const std::string mark = fmt::format("{:<4}", health_name(finding.health));

		if (quiet && !bad)
			continue;
		if (finding.subject != subject)
			context.out << escape(finding.subject) << ":\n";
		subject = finding.subject;
		context.out << fmt::format("  {}  {:<13} {}\n",
					   finding.health == Health::fail ? context.alarm(mark)
									  : mark,
					   finding.name, finding.text);
		if (!finding.advice.empty())
			context.out << fmt::format("  {:>18}  do: {}\n", "", finding.advice);
	}
}

void write_findings_json(const Context &context, const std::vector<Finding> &findings)
{
	Json document = json_document(context);

	document["ok"] = is_well(findings);
	Json &list = document["findings"] = Json::array();
	for (const Finding &finding : findings) {
		Json object = Json::object();

		json_name(object, "subject", finding.subject);
		object["name"] = finding.name;
		object["result"] = health_name(finding.health);
		object["text"] = finding.text;
		object["advice"] = finding.advice.empty() ? Json() : Json(finding.advice);
		list.push_back(std::move(object));
	}
	write_json(context.out, document);
}

} // namespace wsctl
