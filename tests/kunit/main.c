// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/module.h>

#include "tests.h"

kunit_test_suites(&wsfs_geometry_suite, &wsfs_streams_suite);

MODULE_DESCRIPTION("KUnit tests of wsfs");
MODULE_LICENSE("GPL");
