/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _WSFS_KUNIT_TESTS_H
#define _WSFS_KUNIT_TESTS_H

struct kunit_suite;

extern struct kunit_suite wsfs_geometry_suite;
extern struct kunit_suite wsfs_streams_suite;

#endif /* _WSFS_KUNIT_TESTS_H */
