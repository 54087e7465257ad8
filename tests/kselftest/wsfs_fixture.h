/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture that most of the wsfs selftests use: a fresh XFS with 16 AGs,
 * wsfs over it with 4 streams, all in a mount namespace of its own.
 */
#ifndef WSFS_FIXTURE_H
#define WSFS_FIXTURE_H

#include "kselftest_harness.h"
#include "wsfs_test.h"

/* Emulated machines are slow; a hang is a hang after two minutes as well. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 120

/* For what the contract leaves open. */
#define EXPECT_EITHER(a, b, call) do {					\
	int __ret = (call);						\
									\
	EXPECT_TRUE(__ret == (a) || __ret == (b)) {			\
		TH_LOG("%s is %d, neither %s nor %s", #call, __ret, #a, #b); \
	}								\
} while (0)

FIXTURE(wsfs)
{
	int dir;		/* the root of the mount */
};

FIXTURE_SETUP(wsfs)
{
	ASSERT_EQ(0, ws_up());
	self->dir = ws_open(WS_MNT, O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->dir);
}

FIXTURE_TEARDOWN(wsfs)
{
	EXPECT_EQ(0, ws_down());
}

#endif /* WSFS_FIXTURE_H */
