/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wsfs is written for Linux 7.3; what 6.12 does differently is here and
 * nowhere else. Kernels between the two are neither one nor the other and are
 * refused: nobody has run wsfs on them.
 */
#ifndef _WSFS_COMPAT_H
#define _WSFS_COMPAT_H

#include <linux/fs.h>
#include <linux/backing-file.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fileattr.h>
#include <linux/fs_context.h>
#include <linux/filelock.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/version.h>

#ifndef CONFIG_64BIT
#error "wsfs copies the file size without a lock and needs a 64-bit kernel"
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)

#define WSFS_IOCB_DROP_COMPAT	0
#define WSFS_FOP_DONTCACHE	FOP_DONTCACHE
#define WSFS_SB_I_ALLOW_HSM	SB_I_ALLOW_HSM
#define WSFS_HAS_FSERROR	1

/* What kiocb_clone() leaves out */
static inline void wsfs_kiocb_clone_rest(struct kiocb *iocb,
					 const struct kiocb *orig)
{
	iocb->ki_write_stream = orig->ki_write_stream;
	iocb->ki_waitq = orig->ki_waitq;
}

static inline bool wsfs_dontcache_refused(const struct kiocb *iocb,
					  const struct file *lower)
{
	return (iocb->ki_flags & IOCB_DONTCACHE) &&
	       !(lower->f_op->fop_flags & FOP_DONTCACHE);
}

static inline void wsfs_backing_ctx_init(struct backing_file_ctx *ctx,
					 struct file *file)
{
}

static inline void wsfs_dir_context_init(struct dir_context *ctx,
					 filldir_t actor)
{
	ctx->actor = actor;
}

static inline void wsfs_fileattr_use_xflags(struct file_kattr *fa, u32 xflags)
{
	u32 projid = fa->fsx_projid;
	u32 extsize = fa->fsx_extsize, cowextsize = fa->fsx_cowextsize;

	fileattr_fill_xflags(fa, xflags);
	fa->fsx_projid = projid;
	fa->fsx_extsize = extsize;
	fa->fsx_cowextsize = cowextsize;
}

static inline void wsfs_set_d_op(struct super_block *sb,
				 const struct dentry_operations *ops)
{
	set_default_d_op(sb, ops);
}

static inline int wsfs_freeze_lower(struct super_block *sb)
{
	return freeze_super(sb, FREEZE_HOLDER_KERNEL | FREEZE_MAY_NEST, NULL);
}

static inline int wsfs_thaw_lower(struct super_block *sb)
{
	return thaw_super(sb, FREEZE_HOLDER_KERNEL | FREEZE_MAY_NEST, NULL);
}

/* The operation as the VFS wants it, of a function as 7.3 wants it */
#define WSFS_OP(_fn)		_fn

#elif LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL == 12

/* Completion in the caller's context goes by fields that are not cloned. */
#define WSFS_IOCB_DROP_COMPAT	IOCB_DIO_CALLER_COMP
#define WSFS_FOP_DONTCACHE	0
#define WSFS_SB_I_ALLOW_HSM	0
#define WSFS_HAS_FSERROR	0

#ifndef kzalloc_obj
#define kmalloc_obj(_obj)	kmalloc(sizeof(_obj), GFP_KERNEL)
#define kzalloc_obj(_obj)	kzalloc(sizeof(_obj), GFP_KERNEL)
#endif

#define file_kattr		fileattr

#ifndef QSTR_LEN
#define QSTR_LEN(_name, _len)	((struct qstr)QSTR_INIT((_name), (_len)))
#endif

#define for_each_alias(_dentry, _inode) \
	hlist_for_each_entry(_dentry, &(_inode)->i_dentry, d_u.d_alias)

static inline void wsfs_kiocb_clone_rest(struct kiocb *iocb,
					 const struct kiocb *orig)
{
	if (orig->ki_flags & IOCB_WAITQ)
		iocb->ki_waitq = orig->ki_waitq;
}

static inline bool wsfs_dontcache_refused(const struct kiocb *iocb,
					  const struct file *lower)
{
	return false;
}

static inline void wsfs_backing_ctx_init(struct backing_file_ctx *ctx,
					 struct file *file)
{
	ctx->user_file = file;
}

/* The actor is constant there. */
static inline void wsfs_dir_context_init(struct dir_context *ctx,
					 filldir_t actor)
{
	struct dir_context init = { .actor = actor, .pos = ctx->pos };

	memcpy(ctx, &init, sizeof(init));
}

static inline void wsfs_fileattr_use_xflags(struct file_kattr *fa, u32 xflags)
{
	u32 projid = fa->fsx_projid;
	u32 extsize = fa->fsx_extsize, cowextsize = fa->fsx_cowextsize;

	fileattr_fill_xflags(fa, xflags);
	fa->fsx_projid = projid;
	fa->fsx_extsize = extsize;
	fa->fsx_cowextsize = cowextsize;
}

static inline void wsfs_set_d_op(struct super_block *sb,
				 const struct dentry_operations *ops)
{
	sb->s_d_op = ops;
}

/* Dropping a reference to the mount takes a global lock there. */
#define fc_mount_longterm	fc_mount

static inline int wsfs_freeze_lower(struct super_block *sb)
{
	return freeze_super(sb, FREEZE_HOLDER_KERNEL | FREEZE_MAY_NEST);
}

static inline int wsfs_thaw_lower(struct super_block *sb)
{
	return thaw_super(sb, FREEZE_HOLDER_KERNEL | FREEZE_MAY_NEST);
}

static inline unsigned long inode_state_read_once(struct inode *inode)
{
	return READ_ONCE(inode->i_state);
}

static inline int icount_read_once(const struct inode *inode)
{
	return atomic_read(&inode->i_count);
}

#define inode_just_drop		generic_delete_inode

#define mm_get_unmapped_area(_file, _addr, _len, _pgoff, _flags) \
	mm_get_unmapped_area(current->mm, _file, _addr, _len, _pgoff, _flags)

static inline struct dentry *wsfs_lookup_noperm(const struct qstr *name,
						struct dentry *base)
{
	struct dentry *dentry;
	const struct cred *caller;
	struct cred *cred;

	dentry = lookup_one_len_unlocked(name->name, base, name->len);
	if (dentry != ERR_PTR(-EACCES))
		return dentry;
	/* It asks without the idmap of the mount, with which it was allowed. */
	cred = prepare_kernel_cred(&init_task);
	if (!cred)
		return ERR_PTR(-ENOMEM);
	caller = override_creds(cred);
	dentry = lookup_one_len_unlocked(name->name, base, name->len);
	revert_creds(caller);
	put_cred(cred);
	return dentry;
}

#define lookup_noperm_unlocked	wsfs_lookup_noperm

static inline void end_creating(struct dentry *child)
{
	if (IS_ERR(child))
		return;
	inode_unlock(d_inode(child->d_parent));
	dput(child);
}

#define end_removing		end_creating

static inline struct dentry *end_creating_keep(struct dentry *child)
{
	if (!IS_ERR(child))
		dget(child);
	end_creating(child);
	return child;
}

static inline struct dentry *start_creating_noperm(struct dentry *parent,
						   const struct qstr *name)
{
	struct dentry *child;

	inode_lock_nested(d_inode(parent), I_MUTEX_PARENT);
	if (IS_DEADDIR(d_inode(parent)))
		child = ERR_PTR(-ENOENT);
	else
		child = lookup_one_len(name->name, parent, name->len);
	if (!IS_ERR(child) && d_is_positive(child)) {
		dput(child);
		child = ERR_PTR(-EEXIST);
	}
	if (IS_ERR(child))
		inode_unlock(d_inode(parent));
	return child;
}

static inline struct dentry *start_removing_dentry(struct dentry *parent,
						   struct dentry *child)
{
	int err = 0;

	inode_lock_nested(d_inode(parent), I_MUTEX_PARENT);
	if (IS_DEADDIR(d_inode(parent)) || child->d_parent != parent ||
	    d_unhashed(child))
		err = -EINVAL;
	else if (d_is_negative(child))
		err = -ENOENT;
	if (err) {
		inode_unlock(d_inode(parent));
		return ERR_PTR(err);
	}
	return dget(child);
}

/* As in 7.3; vfs_rename() wants the kernel's own structure. */
struct wsfs_renamedata {
	struct mnt_idmap *mnt_idmap;
	struct dentry *old_parent;
	struct dentry *old_dentry;
	struct dentry *new_parent;
	struct dentry *new_dentry;
	unsigned int flags;
};

static inline int wsfs_check_renaming(struct wsfs_renamedata *rd,
				      struct dentry *old_dentry,
				      struct dentry *new_dentry,
				      struct dentry *trap)
{
	if (d_unhashed(old_dentry) ||
	    (rd->old_parent && rd->old_parent != old_dentry->d_parent) ||
	    d_unhashed(new_dentry) || rd->new_parent != new_dentry->d_parent)
		return -EINVAL;
	if (old_dentry == trap)
		return -EINVAL;
	if (new_dentry == trap)
		return rd->flags & RENAME_EXCHANGE ? -EINVAL : -ENOTEMPTY;
	if ((rd->flags & RENAME_NOREPLACE) && d_is_positive(new_dentry))
		return -EEXIST;
	if ((rd->flags & RENAME_EXCHANGE) && d_is_negative(new_dentry))
		return -ENOENT;
	return 0;
}

static inline int wsfs_start_renaming(struct wsfs_renamedata *rd,
				      struct dentry *old_dentry,
				      struct dentry *new_dentry,
				      const struct qstr *name)
{
	struct dentry *trap = lock_rename_child(old_dentry, rd->new_parent);
	struct dentry *old_parent;
	int err;

	if (IS_ERR(trap))
		return PTR_ERR(trap);
	old_parent = dget(old_dentry->d_parent);
	if (new_dentry)
		dget(new_dentry);
	else
		new_dentry = lookup_one_len(name->name, rd->new_parent,
					    name->len);
	err = PTR_ERR_OR_ZERO(new_dentry);
	if (!err) {
		err = wsfs_check_renaming(rd, old_dentry, new_dentry, trap);
		if (err)
			dput(new_dentry);
	}
	if (err) {
		unlock_rename(old_parent, rd->new_parent);
		dput(old_parent);
		return err;
	}
	rd->old_parent = old_parent;
	rd->old_dentry = dget(old_dentry);
	rd->new_dentry = new_dentry;
	return 0;
}

static inline void wsfs_end_renaming(struct wsfs_renamedata *rd)
{
	unlock_rename(rd->old_parent, rd->new_parent);
	dput(rd->old_dentry);
	dput(rd->new_dentry);
	dput(rd->old_parent);
}

static inline int wsfs_vfs_rename(struct wsfs_renamedata *rd)
{
	struct renamedata old = {
		.old_mnt_idmap	= rd->mnt_idmap,
		.old_dir	= d_inode(rd->old_parent),
		.old_dentry	= rd->old_dentry,
		.new_mnt_idmap	= rd->mnt_idmap,
		.new_dir	= d_inode(rd->new_parent),
		.new_dentry	= rd->new_dentry,
		.flags		= rd->flags,
	};

	return vfs_rename(&old);
}

static inline int wsfs_start_renaming_dentry(struct wsfs_renamedata *rd,
					     int flags, struct dentry *old,
					     const struct qstr *name)
{
	return wsfs_start_renaming(rd, old, NULL, name);
}

static inline int wsfs_start_renaming_two(struct wsfs_renamedata *rd,
					  struct dentry *old,
					  struct dentry *new)
{
	return wsfs_start_renaming(rd, old, new, NULL);
}

#define renamedata			wsfs_renamedata
#define start_renaming_dentry		wsfs_start_renaming_dentry
#define start_renaming_two_dentries	wsfs_start_renaming_two
#define end_renaming			wsfs_end_renaming
#define vfs_rename			wsfs_vfs_rename

/* d_exchange() is not exported there: each takes a copy of the other's name. */
static inline void wsfs_d_exchange(struct dentry *a, struct dentry *b)
{
	struct dentry *name_a = d_alloc(a->d_parent, &a->d_name);
	struct dentry *name_b = d_alloc(b->d_parent, &b->d_name);

	if (name_a && name_b) {
		d_move(a, name_b);
		d_move(b, name_a);
	} else {
		/* The next lookup puts them where they belong. */
		d_drop(a);
		d_drop(b);
	}
	dput(name_a);
	dput(name_b);
}

#define d_exchange		wsfs_d_exchange

/* Here the VFS tells of a delegation in its way, or does not; wsfs never asks. */
static inline int wsfs_vfs_create(struct mnt_idmap *idmap,
				  struct dentry *dentry, umode_t mode,
				  struct inode **di)
{
	return vfs_create(idmap, d_inode(dentry->d_parent), dentry, mode, true);
}

static inline struct dentry *wsfs_vfs_mkdir(struct mnt_idmap *idmap,
					    struct inode *dir,
					    struct dentry *dentry, umode_t mode,
					    struct inode **di)
{
	int err = vfs_mkdir(idmap, dir, dentry, mode);

	if (err) {
		end_creating(dentry);
		return ERR_PTR(err);
	}
	return dentry;
}

static inline int wsfs_vfs_mknod(struct mnt_idmap *idmap, struct inode *dir,
				 struct dentry *dentry, umode_t mode, dev_t dev,
				 struct inode **di)
{
	return vfs_mknod(idmap, dir, dentry, mode, dev);
}

static inline int wsfs_vfs_symlink(struct mnt_idmap *idmap, struct inode *dir,
				   struct dentry *dentry, const char *target,
				   struct inode **di)
{
	return vfs_symlink(idmap, dir, dentry, target);
}

static inline int wsfs_vfs_rmdir(struct mnt_idmap *idmap, struct inode *dir,
				 struct dentry *dentry, struct inode **di)
{
	return vfs_rmdir(idmap, dir, dentry);
}

#define vfs_create			wsfs_vfs_create
#define vfs_mkdir			wsfs_vfs_mkdir
#define vfs_mknod			wsfs_vfs_mknod
#define vfs_symlink			wsfs_vfs_symlink
#define vfs_rmdir			wsfs_vfs_rmdir

#define WSFS_OP(_fn)		_fn##_612

enum fs_update_time {
	FS_UPD_ATIME,
	FS_UPD_CMTIME,
};

int wsfs_update_time(struct inode *inode, enum fs_update_time type,
		     unsigned int flags);
int wsfs_d_revalidate(struct inode *dir, const struct qstr *name,
		      struct dentry *dentry, unsigned int flags);
int wsfs_create(struct mnt_idmap *idmap, struct inode *dir,
		struct dentry *dentry, umode_t mode);
struct dentry *wsfs_mkdir(struct mnt_idmap *idmap, struct inode *dir,
			  struct dentry *dentry, umode_t mode);

static inline int wsfs_update_time_612(struct inode *inode, int flags)
{
	return wsfs_update_time(inode, flags & S_ATIME ? FS_UPD_ATIME :
							 FS_UPD_CMTIME, 0);
}

static inline int wsfs_d_revalidate_612(struct dentry *dentry,
					unsigned int flags)
{
	struct dentry *parent = NULL;
	struct name_snapshot name;
	struct inode *dir;
	int ret;

	if (flags & LOOKUP_RCU) {
		dir = d_inode_rcu(READ_ONCE(dentry->d_parent));
		if (!dir)
			return -ECHILD;
	} else {
		parent = dget_parent(dentry);
		dir = d_inode(parent);
	}
	take_dentry_name_snapshot(&name, dentry);
	ret = wsfs_d_revalidate(dir, &name.name, dentry, flags);
	release_dentry_name_snapshot(&name);
	dput(parent);
	return ret;
}

static inline int wsfs_create_612(struct mnt_idmap *idmap, struct inode *dir,
				  struct dentry *dentry, umode_t mode,
				  bool excl)
{
	return wsfs_create(idmap, dir, dentry, mode);
}

static inline int wsfs_mkdir_612(struct mnt_idmap *idmap, struct inode *dir,
				 struct dentry *dentry, umode_t mode)
{
	return PTR_ERR_OR_ZERO(wsfs_mkdir(idmap, dir, dentry, mode));
}

#else
#error "wsfs supports Linux 6.12 (long-term) and Linux 7.3 or newer"
#endif

#endif /* _WSFS_COMPAT_H */
