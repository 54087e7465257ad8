// SPDX-License-Identifier: GPL-2.0
// Runs wsctl on a fake host and compares what it writes.
#pragma once

#include <string>
#include <vector>

#include "fake_host.h"

struct Ran {
	int status;
	std::string out;
	std::string err;
};

Ran run_wsctl(FakeHost &fake, const std::vector<std::string> &arguments, bool terminal = false);

// @text has to be the content of golden/NAME. With WSFS_UPDATE_GOLDEN set the
// file is written anew; look at the difference before you commit it.
void expect_golden(const std::string &name, const std::string &text);
