// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <sstream>
#include <thread>

#include <gtest/gtest.h>

namespace
{

using wsctl::progress_text;

TEST(Progress, TellsRateAndTimeLeft)
{
	EXPECT_EQ(progress_text(1000, "file", 2, 0.25), "1000 files, 500/s, 0:06 left");
	EXPECT_EQ(progress_text(1, "file", 2, 0), "1 file, 0/s");
	EXPECT_EQ(progress_text(100, "file", 100, 0.01), "100 files, 1/s, 2:45:00 left");
	EXPECT_EQ(progress_text(5, "file", 1, 1), "5 files, 5/s, 0:00 left");
	// No estimate is better than one in years.
	EXPECT_EQ(progress_text(5, "file", 1, 1e-9), "5 files, 5/s");
}

TEST(Progress, IsSilentForASecond)
{
	std::ostringstream err;
	wsctl::Progress progress(err, true, "file");

	for (int i = 0; i < 1000; i++)
		progress.step(0.5);
	progress.hide();
	EXPECT_EQ(err.str(), "");
	std::this_thread::sleep_for(std::chrono::milliseconds(1100));
	for (int i = 0; i < 32; i++)
		progress.step(0.5);
	EXPECT_NE(err.str().find(" files, "), std::string::npos);
	progress.hide();
	EXPECT_TRUE(err.str().ends_with("\r\x1b[K"));
}

TEST(Progress, IsForTerminalsOnly)
{
	std::ostringstream err;
	wsctl::Progress progress(err, false, "file");

	std::this_thread::sleep_for(std::chrono::milliseconds(1100));
	for (int i = 0; i < 32; i++)
		progress.step(0.5);
	progress.hide();
	EXPECT_EQ(err.str(), "");
}

} // namespace
