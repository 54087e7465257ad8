#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Install what the harness needs on the user's machine; the rest is in the
# sysroot. Does nothing where it is there already.

set -eu
missing=
for tool in python3 mmdebstrap unshare setpriv; do
	command -v "$tool" >/dev/null || missing="$missing $tool"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "not found:$missing; please install python3, mmdebstrap and util-linux" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ]; then
	echo "not found:$missing; run this as root, or: apt-get install python3 mmdebstrap" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends python3 mmdebstrap util-linux \
	debian-archive-keyring >/dev/null
