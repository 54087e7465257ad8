// SPDX-License-Identifier: GPL-2.0
#include "golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "app.h"

Ran run_wsctl(FakeHost &fake, const std::vector<std::string> &arguments, bool terminal)
{
	std::ostringstream out;
	std::ostringstream err;
	const int status = wsctl::run_app(arguments, fake.host(),
					  {.out = out, .err = err, .terminal = terminal});

	return {.status = status, .out = out.str(), .err = err.str()};
}

void expect_golden(const std::string &name, const std::string &text)
{
	const std::string path = GOLDEN_DIR "/" + name;

	if (std::getenv("WSFS_UPDATE_GOLDEN")) {
		std::ofstream out(path);

		out << text;
		out.close();
		ASSERT_TRUE(out) << path;
		return;
	}
	std::ifstream in(path);
	ASSERT_TRUE(in) << path << " is missing; run the tests with WSFS_UPDATE_GOLDEN=1";
	std::ostringstream expected;
	expected << in.rdbuf();
	EXPECT_EQ(expected.str(), text) << "differs from " << path;
}
