// SPDX-License-Identifier: GPL-2.0
/*
 * Carrying over what a file is: everything but its data.
 *
 * SET puts a new lower file in the place of an empty one (home.c). This makes
 * the new one what the old one was: owner, mode, times, attributes, ACLs.
 */

#include <linux/fs.h>
#include <linux/fileattr.h>
#include <linux/mount.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/slab.h>
#include <linux/xattr.h>
#include "wsfs.h"

static int wsfs_carry_xattr(struct mnt_idmap *idmap, struct dentry *new,
			    struct dentry *old, const char *name)
{
	ssize_t size = vfs_getxattr(idmap, old, name, NULL, 0);
	void *value;
	int err;

	if (size < 0)
		return size;
	value = kvmalloc(max(size, 1), GFP_KERNEL);
	if (!value)
		return -ENOMEM;
	size = vfs_getxattr(idmap, old, name, value, size);
	err = size < 0 ? size : vfs_setxattr(idmap, new, name, value, size, 0);
	kvfree(value);
	return err;
}

static int wsfs_carry_acl(struct mnt_idmap *idmap, struct dentry *new,
			  struct dentry *old, const char *name)
{
	struct posix_acl *acl = vfs_get_acl(idmap, old, name);
	int err;

	if (IS_ERR(acl))
		return PTR_ERR(acl);
	err = vfs_set_acl(idmap, new, name, acl);
	posix_acl_release(acl);
	return err;
}

static int wsfs_carry_xattrs(struct mnt_idmap *idmap, struct dentry *new,
			     struct dentry *old)
{
	ssize_t size = vfs_listxattr(old, NULL, 0);
	char *list, *name;
	int err = 0;

	if (size <= 0)
		return size == -EOPNOTSUPP ? 0 : size;
	list = kvmalloc(size, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	size = vfs_listxattr(old, list, size);
	if (size < 0)
		err = size;
	for (name = list; !err && name < list + size;
	     name += strlen(name) + 1) {
		if (is_posix_acl_xattr(name))
			err = wsfs_carry_acl(idmap, new, old, name);
		else if (!strstarts(name, "trusted.SGI_ACL_"))
			/* That is how XFS lists an ACL once more. */
			err = wsfs_carry_xattr(idmap, new, old, name);
	}
	kvfree(list);
	return err;
}

static int wsfs_carry_fileattr(struct mnt_idmap *idmap, struct dentry *new,
			       struct dentry *old)
{
	struct file_kattr fa = {}, now = {};
	int err;

	err = vfs_fileattr_get(old, &fa) ?: vfs_fileattr_get(new, &now);
	if (err)
		return err;
	/* Says only that there are xattrs, and cannot be set. */
	fa.fsx_xflags &= ~FS_XFLAG_HASATTR;
	now.fsx_xflags &= ~FS_XFLAG_HASATTR;
	if (fa.fsx_xflags == now.fsx_xflags && fa.flags == now.flags &&
	    fa.fsx_projid == now.fsx_projid &&
	    fa.fsx_extsize == now.fsx_extsize &&
	    fa.fsx_cowextsize == now.fsx_cowextsize)
		return 0;
	now.fsx_projid = fa.fsx_projid;
	now.fsx_extsize = fa.fsx_extsize;
	now.fsx_cowextsize = fa.fsx_cowextsize;
	wsfs_fileattr_use_xflags(&now, fa.fsx_xflags);
	return vfs_fileattr_set(idmap, new, &now);
}

/**
 * wsfs_carry() - give a file everything of another that is not its data
 * @wsb: the superblock
 * @new: lower dentry of the file that gets it
 * @old: lower dentry of the file that has it
 * @stat: owner, mode and times of @old
 *
 * Works with the credentials of the caller, who may be neither's owner; takes
 * the i_rwsem of @new. Birth and change time cannot be set.
 *
 * Return: 0 or what the lower says; @new is of no use then.
 */
int wsfs_carry(struct wsfs_sb *wsb, struct dentry *new, struct dentry *old,
	       const struct kstat *stat)
{
	struct mnt_idmap *idmap = mnt_idmap(wsb->lower_mnt);
	struct iattr attr = {
		.ia_valid = ATTR_UID | ATTR_GID,
		.ia_vfsuid = VFSUIDT_INIT(stat->uid),
		.ia_vfsgid = VFSGIDT_INIT(stat->gid),
	};
	int err;

	/* The owner first: changing him takes setuid and capabilities away. */
	inode_lock(d_inode(new));
	err = notify_change(idmap, new, &attr, NULL);
	inode_unlock(d_inode(new));
	if (!err)
		err = wsfs_carry_fileattr(idmap, new, old);
	if (!err)
		err = wsfs_carry_xattrs(idmap, new, old);
	if (err)
		return err;

	attr = (struct iattr) {
		.ia_valid = ATTR_MODE | ATTR_ATIME | ATTR_ATIME_SET |
			    ATTR_MTIME | ATTR_MTIME_SET,
		.ia_mode = stat->mode,
		.ia_atime = stat->atime,
		.ia_mtime = stat->mtime,
	};
	inode_lock(d_inode(new));
	err = notify_change(idmap, new, &attr, NULL);
	inode_unlock(d_inode(new));
	return err;
}
