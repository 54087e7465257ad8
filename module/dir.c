// SPDX-License-Identifier: GPL-2.0
/*
 * Reading directories: the lower's entries, less wsfs's own.
 */

#include <linux/backing-file.h>
#include <linux/slab.h>
#include "wsfs.h"

static int wsfs_dir_open(struct inode *inode, struct file *file)
{
	const struct dentry *dentry = file_dentry(file);
	struct path path = {
		.mnt = wsfs_lower_mnt(inode->i_sb),
		.dentry = wsfs_lower_dentry(dentry),
	};
	struct wsfs_file *wf;
	struct file *lower;

	lower = backing_file_open(file, (file->f_flags & ~(O_CREAT | O_EXCL |
				  O_NOCTTY | O_TRUNC)) | O_NOATIME,
				  &path, file->f_cred);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	wf = wsfs_file_alloc(lower);
	if (!wf)
		return -ENOMEM;
	file->private_data = wf;
	return 0;
}

static int wsfs_dir_release(struct inode *inode, struct file *file)
{
	wsfs_file_free(file->private_data);
	return 0;
}

static struct file *wsfs_dir_lower(const struct file *file)
{
	const struct wsfs_file *wf = file->private_data;

	return wf->lower;
}

/* Reads the root for somebody else, without the reserved name. */
struct wsfs_root_context {
	struct dir_context	ctx;
	struct dir_context	*orig;
	const struct dentry	*root;
};

static bool wsfs_root_actor(struct dir_context *ctx, const char *name, int len,
			    loff_t pos, u64 ino, unsigned int type)
{
	struct wsfs_root_context *rc = container_of(ctx,
						    struct wsfs_root_context,
						    ctx);
	const struct qstr qname = QSTR_LEN(name, len);

	if (wsfs_name_reserved(rc->root, &qname))
		return true;
	rc->orig->pos = ctx->pos;
	return rc->orig->actor(rc->orig, name, len, pos, ino, type);
}

/*
 * The VFS holds our i_rwsem shared and, where the file is shared, the lock of
 * its position; iterate_dir() takes the lower's.
 */
static int wsfs_iterate(struct file *file, struct dir_context *ctx)
{
	struct file *lower = wsfs_dir_lower(file);
	struct wsfs_root_context rc = {
		.ctx = *ctx,
		.orig = ctx,
		.root = file_dentry(file),
	};
	int err;

	lower->f_pos = ctx->pos;
	if (!IS_ROOT(file_dentry(file)))
		return iterate_dir(lower, ctx);

	wsfs_dir_context_init(&rc.ctx, wsfs_root_actor);
	err = iterate_dir(lower, &rc.ctx);
	ctx->pos = rc.ctx.pos;
	return err;
}

static loff_t wsfs_dir_llseek(struct file *file, loff_t offset, int whence)
{
	struct file *lower = wsfs_dir_lower(file);
	loff_t pos;

	/* Positions are the lower's; the VFS has locked ours. */
	lower->f_pos = file->f_pos;
	pos = vfs_llseek(lower, offset, whence);
	if (pos >= 0)
		file->f_pos = pos;
	return pos;
}

static int wsfs_dir_fsync(struct file *file, loff_t start, loff_t end,
			  int datasync)
{
	return vfs_fsync_range(wsfs_dir_lower(file), start, end, datasync);
}

const struct file_operations wsfs_dir_fops = {
	.owner		= THIS_MODULE,
	.open		= wsfs_dir_open,
	.release	= wsfs_dir_release,
	.read		= generic_read_dir,
	.iterate_shared	= wsfs_iterate,
	.llseek		= wsfs_dir_llseek,
	.fsync		= wsfs_dir_fsync,
	.setlease	= generic_setlease,
	.unlocked_ioctl	= wsfs_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl	= wsfs_compat_ioctl,
#endif
};
