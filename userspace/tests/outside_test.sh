#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# outside_test.sh BUILD-TREE EXAMPLES: install into an empty directory, and
# build the examples against that, with pkg-config and with CMake. What they
# say off wsfs shows that they are linked and run.

set -eu
build=$1
examples=$2
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The prefix is the one that the build was configured with.
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
DESTDIR=$dir/root cmake --install "$build" >/dev/null
root=$dir/root$prefix
libdir=$(dirname "$(find "$root" -name libws.so)")
export LD_LIBRARY_PATH="$libdir"

fail() {
	echo "outside_test: $*" >&2
	exit 1
}

# Off wsfs an example fails, and says so in the library's words.
runs() {
	if "$@" "$dir" >"$dir/out" 2>&1; then
		fail "$* succeeded off wsfs"
	fi
	grep -q "hint: .*wsfs" "$dir/out" || fail "$* said: $(cat "$dir/out")"
}

# The C interface is all that the shared library shows.
nm -D --defined-only "$libdir/libws.so" | awk '{ print $3 }' | sed 's/@.*//' |
	grep -v '^LIBWS_' | sort >"$dir/shown"
grep -o 'ws_[a-z_]*(' "$root/include/ws.h" | tr -d '(' | sort -u >"$dir/declared"
echo ws_last_error >>"$dir/declared"
sort -u -o "$dir/declared" "$dir/declared"
grep -v -x -f "$dir/declared" "$dir/shown" && fail "libws.so shows more than ws.h declares"
objdump -p "$libdir/libws.so" | grep -q 'SONAME *libws.so.0$' || fail "no soname"

pkg() {
	PKG_CONFIG_PATH="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dir/root" pkg-config "$@"
}
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror -o "$dir/c" "$examples/libws-example.c" $(pkg --cflags --libs libws)
ldd "$dir/c" | grep -q "libws.so.0 => $libdir" || fail "the C example does not use libws.so.0"
runs "$dir/c"
# Without C++ anywhere on the command line, the static library too.
# shellcheck disable=SC2046
cc -o "$dir/c-static" "$examples/libws-example.c" $(pkg --cflags libws) \
	"$libdir/libws.a" $(pkg --libs --static libws | tr ' ' '\n' | grep -v -x -e -lws)
runs "$dir/c-static"
# shellcheck disable=SC2046
c++ -std=c++20 -o "$dir/cxx" "$examples/libws-example.cpp" $(pkg --cflags --libs libws++)
runs "$dir/cxx"

mkdir "$dir/project"
cp "$here/outside/CMakeLists.txt" "$examples/libws-example.c" "$examples/libws-example.cpp" \
	"$dir/project"
cmake -S "$dir/project" -B "$dir/project/build" -G Ninja -DCMAKE_PREFIX_PATH="$root" \
	>"$dir/log" || fail "$(cat "$dir/log")"
cmake --build "$dir/project/build" >"$dir/log" || fail "$(cat "$dir/log")"
runs "$dir/project/build/c-example"
runs "$dir/project/build/cxx-example"
