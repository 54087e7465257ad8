// SPDX-License-Identifier: GPL-2.0
/*
 * A device as source: mount -t wsfs /dev/X mounts the XFS on it where no path
 * leads to, and stacks on that.
 *
 * What is not an option of wsfs goes to a mount context of XFS's own, made when
 * the first such option comes. The two contexts share their log, so what XFS
 * has to say is read where the mounter reads.
 */

#include <linux/blkdev.h>
#include <linux/fs_context.h>
#include <linux/module.h>
#include <uapi/linux/mount.h>
#include "wsfs.h"

/* XFS's side of @fc; made when it is first asked for */
static struct fs_context *wsfs_device_fc(struct fs_context *fc)
{
	struct wsfs_sb *wsb = fc->s_fs_info;
	struct file_system_type *type;
	struct fs_context *xfs;

	if (wsb->xfs_fc)
		return wsb->xfs_fc;
	type = get_fs_type("xfs");
	if (!type) {
		errorf(fc, "there is no xfs in this kernel");
		return ERR_PTR(-ENODEV);
	}
	xfs = fs_context_for_mount(type, fc->sb_flags);
	/* The context has its own reference. */
	module_put(type->owner);
	if (IS_ERR(xfs))
		return xfs;
	if (fc->log.log) {
		refcount_inc(&fc->log.log->usage);
		xfs->log.log = fc->log.log;
	}
	wsb->xfs_fc = xfs;
	return xfs;
}

/**
 * wsfs_device_param() - take a mount option that is not one of wsfs's
 * @fc: the context of wsfs
 * @param: the option
 *
 * Return: what XFS says of it.
 */
int wsfs_device_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct fs_context *xfs = wsfs_device_fc(fc);

	return PTR_ERR_OR_ZERO(xfs) ?: vfs_parse_fs_param(xfs, param);
}

/**
 * wsfs_device_mount() - mount the XFS on fc->source
 * @fc: the context of wsfs; its source is a block device
 *
 * Where the device is mounted as XFS already this is the same superblock, and
 * options are ignored, as with every second mount of an XFS.
 *
 * Return: the mount, for kern_unmount(); or an ERR_PTR with what XFS says.
 */
struct vfsmount *wsfs_device_mount(struct fs_context *fc)
{
	struct wsfs_sb *wsb = fc->s_fs_info;
	struct fs_context *xfs = wsfs_device_fc(fc);
	struct vfsmount *mnt;

	if (IS_ERR(xfs))
		return ERR_CAST(xfs);
	xfs->source = kstrdup(fc->source, GFP_KERNEL);
	if (!xfs->source)
		return ERR_PTR(-ENOMEM);
	xfs->sb_flags = fc->sb_flags;
	xfs->exclusive = fc->exclusive;
	mnt = fc_mount_longterm(xfs);
	wsb->xfs_fc = NULL;
	put_fs_context(xfs);
	return mnt;
}

/* The part of the VFS's reconfigure_super() that comes before the filesystem */
static int wsfs_device_may_change(struct fs_context *fc,
				  struct super_block *lower, bool ro)
{
	if (lower->s_writers.frozen != SB_UNFROZEN)
		return -EBUSY;
	if (ro == sb_rdonly(lower))
		return 0;
	if (!ro)
		return bdev_read_only(lower->s_bdev) ? -EACCES : 0;
	/*
	 * Who writes through wsfs was looked for before we were called, and
	 * nobody can begin to. Other mounts of the XFS cannot be asked.
	 */
	if (atomic_read(&lower->s_active) != 1) {
		errorf(fc, "%pg is mounted as xfs too; remount it read-only there",
		       lower->s_bdev);
		return -EBUSY;
	}
	return atomic_long_read(&lower->s_remove_count) ? -EBUSY : 0;
}

/**
 * wsfs_device_reconfigure() - remount the XFS that wsfs has mounted
 * @fc: the context of wsfs, with XFS's options taken by wsfs_device_param()
 * @lower: the superblock of the XFS
 *
 * The caller holds the s_umount of the wsfs superblock, and has seen to it that
 * no file is open for writing if it is to become read-only.
 *
 * Return: 0; EBUSY for a frozen one, unlinked files that are still open, or
 * another mount that may write; EACCES for a read-only device; what XFS says.
 */
int wsfs_device_reconfigure(struct fs_context *fc, struct super_block *lower)
{
	struct fs_context *xfs = wsfs_device_fc(fc);
	unsigned long mask = fc->sb_flags_mask;
	bool was_ro, ro;
	int err;

	if (IS_ERR(xfs))
		return PTR_ERR(xfs);
	down_write(&lower->s_umount);
	was_ro = sb_rdonly(lower);
	/* XFS goes by the flags, whether they are in the mask or not. */
	xfs->sb_flags = ((lower->s_flags & ~mask) | (fc->sb_flags & mask)) &
			MS_RMT_MASK;
	xfs->sb_flags_mask = mask;
	ro = xfs->sb_flags & SB_RDONLY;
	err = wsfs_device_may_change(fc, lower, ro);
	if (err)
		goto out;

	/* put_fs_context() gives both back. */
	xfs->purpose = FS_CONTEXT_FOR_RECONFIGURE;
	xfs->root = dget(lower->s_root);
	atomic_inc(&lower->s_active);
	shrink_dcache_sb(lower);
	err = xfs->ops->reconfigure(xfs);
	if (err)
		goto out;
	WRITE_ONCE(lower->s_flags, (lower->s_flags & ~mask) |
				   (xfs->sb_flags & mask));
	if (ro && !was_ro)
		invalidate_bdev(lower->s_bdev);
out:
	up_write(&lower->s_umount);
	return err;
}
