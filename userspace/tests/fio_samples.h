// SPDX-License-Identifier: GPL-2.0
// What fio could have said.
#pragma once

constexpr const char *fio_sample = R"(note: both iodepth >= 1
{
  "fio version" : "fio-3.39", "jobs" : [
  { "jobname" : "wal.0", "groupid" : 0, "error" : 0,
    "read" : { "total_ios" : 0, "io_bytes" : 0, "runtime" : 0 },
    "write" : { "total_ios" : 3000, "io_bytes" : 12288000, "runtime" : 2000, "iops" : 1500.0,
      "clat_ns" : { "percentile" : { "50.000000" : 20000, "99.000000" : 500000, "99.900000" : 900000 } } } },
  { "jobname" : "flush.0", "groupid" : 1, "error" : 0,
    "write" : { "total_ios" : 400, "io_bytes" : 104857600, "runtime" : 4000, "iops" : 100.0,
      "clat_ns" : { "percentile" : { "50.000000" : 70000, "99.000000" : 100000, "99.900000" : 100000 } } } } ]
}
)";
