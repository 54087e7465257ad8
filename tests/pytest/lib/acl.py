# SPDX-License-Identifier: GPL-2.0
"""POSIX ACLs in the form of their xattr."""

import struct

ACCESS = "system.posix_acl_access"
DEFAULT = "system.posix_acl_default"

USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NO_ID = 0xFFFFFFFF


def acl(*entries):
    """@entries: (tag, permissions) or (tag, permissions, id), in tag order."""
    blob = struct.pack("=I", 2)
    for tag, permissions, *who in entries:
        blob += struct.pack("=HHI", tag, permissions, who[0] if who else _NO_ID)
    return blob


def for_user(uid, permissions=6):
    """rw for the owner, r for group and others, @permissions for @uid."""
    return acl((USER_OBJ, 6), (USER, permissions, uid), (GROUP_OBJ, 4), (MASK, 7), (OTHER, 4))
