// SPDX-License-Identifier: GPL-2.0
/*
 * File handles: name_to_handle_at(2), open_by_handle_at(2), fanotify, knfsd.
 *
 * A handle is the lower's, byte for byte, so it means the same file whether
 * wsfs is mounted or not. To decode one, the lower decodes it and we look for
 * the wsfs dentry that stands for the result. A lower dentry with a name is
 * walked to from the root: that connects directories as NFS wants them, and
 * does not find what is in .wsfs. A file that the lower knows by its inode alone
 * gets a wsfs dentry without a name as well.
 */

#include <linux/cred.h>
#include <linux/exportfs.h>
#include <linux/writeback.h>
#include "wsfs.h"

/* A rename may be faster than the walk so often. */
#define WSFS_WALK_TRIES	3

static int wsfs_encode_fh(struct inode *inode, u32 *fh, int *max_len,
			  struct inode *parent)
{
	struct inode *lower = wsfs_lower_inode_get(inode);
	int type;

	type = exportfs_encode_inode_fh(lower, (struct fid *)fh, max_len,
					parent ? wsfs_lower_inode(parent) :
						 NULL, 0);
	iput(lower);
	return type;
}

static int wsfs_accept_any(void *context, struct dentry *lower)
{
	return 1;
}

static bool wsfs_has_name(const struct dentry *lower)
{
	return !d_unhashed(lower) && is_subdir((struct dentry *)lower,
					       lower->d_sb->s_root);
}

static int wsfs_accept_named(void *context, struct dentry *lower)
{
	return wsfs_has_name(lower);
}

/* A wsfs dentry without a name for a lower file without one */
static struct dentry *wsfs_nameless(struct super_block *sb,
				    struct dentry *lower)
{
	struct inode *inode = wsfs_iget(sb, d_inode(lower));
	struct dentry *dentry;

	if (IS_ERR(inode))
		return ERR_CAST(inode);
	dentry = d_alloc_anon(sb);
	if (!dentry) {
		iput(inode);
		return ERR_PTR(-ENOMEM);
	}
	/* Before anybody finds it as an alias of the inode */
	dentry->d_fsdata = dget(lower);
	d_instantiate(dentry, inode);
	return dentry;
}

static struct dentry *wsfs_dentry_of(struct super_block *sb,
				     struct dentry *lower)
{
	struct inode *inode = wsfs_ilookup(sb, d_inode(lower));
	struct dentry *dentry = NULL;
	int tries;

	if (inode) {
		dentry = d_find_any_alias(inode);
		iput(inode);
	}
	if (dentry)
		return dentry;
	if (!d_is_dir(lower) && !wsfs_has_name(lower)) {
		/*
		 * Unlinked, and not open here, or it had been found: SET has
		 * replaced it, or somebody has it open below.
		 */
		if (!d_inode(lower)->i_nlink)
			return ERR_PTR(-ESTALE);
		return wsfs_nameless(sb, lower);
	}
	for (tries = 0; tries < WSFS_WALK_TRIES; tries++) {
		dentry = wsfs_dentry_for_lower(sb, lower);
		if (dentry == ERR_PTR(-ENOMEM) || !IS_ERR(dentry))
			return dentry;
	}
	return ERR_PTR(-ESTALE);
}

static struct dentry *wsfs_decode(struct super_block *sb, struct fid *fid,
				  int len, int type)
{
	struct wsfs_sb *wsb = WSFS_SB(sb);
	const struct cred *old_cred = override_creds(wsb->cred);
	struct dentry *lower, *dentry;

	/* A handle may tell of the directory too, and so of the name. */
	lower = exportfs_decode_fh(wsb->lower_mnt, fid, len, type,
				   wsfs_accept_named, NULL);
	if (lower == ERR_PTR(-ESTALE))
		lower = exportfs_decode_fh(wsb->lower_mnt, fid, len, type,
					   wsfs_accept_any, NULL);
	if (IS_ERR(lower)) {
		dentry = lower;
	} else {
		dentry = wsfs_dentry_of(sb, lower);
		dput(lower);
	}
	revert_creds(old_cred);
	return dentry;
}

static struct dentry *wsfs_fh_to_dentry(struct super_block *sb,
					struct fid *fid, int len, int type)
{
	return wsfs_decode(sb, fid, len, type);
}

/* The handle of @dir, decoded: that connects it. */
static struct dentry *wsfs_reencode(struct super_block *sb,
				    struct dentry *lower_dir)
{
	u32 fh[MAX_HANDLE_SZ / sizeof(u32)];
	int len = ARRAY_SIZE(fh);
	int type;

	type = exportfs_encode_inode_fh(d_inode(lower_dir), (struct fid *)fh,
					&len, NULL, 0);
	if (type < 0 || type == FILEID_INVALID)
		return ERR_PTR(-ESTALE);
	return wsfs_decode(sb, (struct fid *)fh, len, type);
}

static struct dentry *wsfs_fh_to_parent(struct super_block *sb,
					struct fid *fid, int len, int type)
{
	struct super_block *lower_sb = wsfs_lower_sb(sb);
	struct dentry *lower_dir, *dir;

	if (!lower_sb->s_export_op->fh_to_parent)
		return NULL;
	lower_dir = lower_sb->s_export_op->fh_to_parent(lower_sb, fid, len,
							type);
	if (IS_ERR_OR_NULL(lower_dir))
		return lower_dir;
	dir = wsfs_reencode(sb, lower_dir);
	dput(lower_dir);
	return dir;
}

/* Directories come connected from wsfs_decode(). */
static struct dentry *wsfs_get_parent(struct dentry *dentry)
{
	return dget_parent(dentry);
}

static int wsfs_commit_metadata(struct inode *inode)
{
	struct inode *lower = wsfs_lower_inode_get(inode);
	const struct export_operations *ops = lower->i_sb->s_export_op;
	int err;

	if (ops->commit_metadata)
		err = ops->commit_metadata(lower);
	else
		err = sync_inode_metadata(lower, 1);
	iput(lower);
	return err;
}

static const struct export_operations wsfs_export_ops = {
	.encode_fh		= wsfs_encode_fh,
	.fh_to_dentry		= wsfs_fh_to_dentry,
	.fh_to_parent		= wsfs_fh_to_parent,
	.get_parent		= wsfs_get_parent,
	.commit_metadata	= wsfs_commit_metadata,
};

/**
 * wsfs_export_init() - give handles if the lower can
 * @sb: a wsfs superblock that is being filled
 */
void wsfs_export_init(struct super_block *sb)
{
	const struct export_operations *ops = wsfs_lower_sb(sb)->s_export_op;

	if (exportfs_can_decode_fh(ops))
		sb->s_export_op = &wsfs_export_ops;
}
