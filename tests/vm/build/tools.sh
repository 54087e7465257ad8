#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tools.sh: build userspace/ inside the sysroot. Results in /wsfs-build/out:
# what `make install` would install, and the example programs. Lines are debug
# information enough, and take a quarter less time; several files compiled as one take
# half of it. units.sh builds the unit tests.

set -euo pipefail
work=/wsfs-build/work
out=/wsfs-build/out

mkdir -p $work $out
cmake -S /wsfs/userspace -B $work -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_UNITY_BUILD=ON -DWSFS_TESTS=OFF \
	-DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1" -DCMAKE_CXX_FLAGS=-Werror >/dev/null
ninja -C $work --quiet programs
rm -rf $work/install
DESTDIR=$work/install cmake --install $work >/dev/null
mkdir -p $work/install/usr/local/bin
cp $work/ws-example $work/libws-example-c $work/libws-example-cxx $work/install/usr/local/bin/
rsync -a --delete $work/install/usr/local/ $out/
