// SPDX-License-Identifier: GPL-2.0
// What the fake kernel answers to XFS_IOC_FSGEOMETRY; a file of its own for
// the headers of xfslibs.
#pragma once

class FakeKernel;

unsigned long fake_xfs_geometry_request();
int fake_xfs_geometry(const FakeKernel &kernel, void *argument);
unsigned long fake_ag_geometry_request();
int fake_ag_geometry(const FakeKernel &kernel, void *argument);
