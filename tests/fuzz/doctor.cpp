// SPDX-License-Identifier: GPL-2.0
// What doctor reads of a machine, whichever it is.
#include "doctor.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "doctor_report.h"
#include "fuzz.hpp"
#include "json.h"

namespace
{

// Made once.
const std::filesystem::path &directory()
{
	static const std::filesystem::path path = [] {
		auto dir = std::filesystem::temp_directory_path() /
			   ("wsfs-fuzz-doctor-" + std::to_string(getpid()));

		for (const char *sub : {"kernel/security", "module/module/parameters", "7.3"})
			std::filesystem::create_directories(dir / sub);
		return dir;
	}();

	return path;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::filesystem::path &dir = directory();
	std::string_view rest = text_of(data, size);
	FuzzKernel kernel("", 0, 0);
	const ws::Host host{.kernel = kernel, .proc_self = dir};
	wsctl::Machine machine{.proc = dir,
			       .sys = dir,
			       .modules = dir,
			       .release = "7.3",
			       .hold_socket = dir / "none",
			       .path = dir};
	// An empty line ends each part.
	const auto part = [&] {
		const auto end = rest.find("\n\n");
		const std::string_view found = rest.substr(0, end);

		rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
		return found;
	};

	for (const char *name :
	     {"filesystems", "status", "7.3/modules.dep", "kernel/security/lockdown",
	      "module/module/parameters/sig_enforce"})
		std::ofstream(dir / name) << part();
	// A release that is no file name would lead elsewhere.
	const std::string release(part());
	if (!release.empty() && release.find('/') == std::string::npos && release[0] != '.')
		machine.release = release;

	const auto findings = wsctl::examine_machine(host, machine);
	std::ostringstream out;
	const wsctl::Context context{.host = host, .out = out, .err = out, .command = "doctor"};
	require(findings.size() >= 5);
	for (const wsctl::Finding &finding : findings)
		require(!finding.name.empty() && !finding.text.empty());
	wsctl::write_findings_json(context, findings);
	require(wsctl::Json::accept(out.str()));
	return 0;
}
