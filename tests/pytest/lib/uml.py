# SPDX-License-Identifier: GPL-2.0
"""UML with several CPUs, and mappings that others take away meanwhile.

When the kernel on one CPU write-protects a page of a process, or takes it, UML's other
CPUs go on running that process with the mapping they had: flush_tlb_page() only marks
(arch/um/include/asm/tlbflush.h), and the mark is seen when the process next leaves user
space. What is stored until then is in a page that the kernel holds to be clean, and is
lost when it drops the page: on plain XFS as well, by fdatasync(2) here and FIDEDUPERANGE
there. Real CPUs, and those of QEMU, are interrupted.
"""

import contextlib
import os
import pathlib

import pytest

# Writeback runs on workers that no CPU is prescribed to.
WORKERS = pathlib.Path("/sys/devices/virtual/workqueue/cpumask")


def is_uml():
    return "User Mode Linux" in pathlib.Path("/proc/cpuinfo").read_text()


@contextlib.contextmanager
def _all_on(cpu):
    cpus, workers = os.sched_getaffinity(0), WORKERS.read_text()
    try:
        os.sched_setaffinity(0, {cpu})
        WORKERS.write_text(f"{1 << cpu:x}")
        yield
    finally:
        WORKERS.write_text(workers)
        os.sched_setaffinity(0, cpus)


@pytest.fixture
def true_mappings():
    """For tests that store through a mapping while somebody else cleans or takes its
    pages: in UML they run on one CPU, with all that they start. Elsewhere on all."""
    with _all_on(0) if is_uml() else contextlib.nullcontext():
        yield
