// SPDX-License-Identifier: GPL-2.0
/*
 * Inodes: finding the one for a lower inode, and everything that is asked of
 * an inode other than its data and its names.
 *
 * The lower inode is the truth. A wsfs inode carries copies of what the VFS
 * reads without asking (mode, owner, size, times, flags), brought up to date
 * by every operation that passes through here.
 *
 * Owners in memory are the same in both, and the lower is reached by a mount
 * without an idmap. So the idmap of the wsfs mount that the caller came by is
 * handed down in its place: the lower judges and makes owners by it as XFS on
 * an idmapped mount of its own would.
 */

#include <linux/fs.h>
#include <linux/fileattr.h>
#include <linux/fiemap.h>
#include <linux/fsnotify.h>
#include <linux/namei.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/slab.h>
#include "wsfs.h"

/* Flags of the lower inode that the VFS has to see on the wsfs inode. */
#define WSFS_COPY_I_FLAGS \
	(S_SYNC | S_NOATIME | S_APPEND | S_IMMUTABLE | S_DIRSYNC)

static struct kmem_cache *wsfs_inode_cachep;

static void wsfs_inode_init_once(void *obj)
{
	struct wsfs_inode *wi = obj;

	mutex_init(&wi->lock);
	INIT_LIST_HEAD(&wi->files);
	inode_init_once(&wi->vfs_inode);
}

int __init wsfs_inode_cache_init(void)
{
	wsfs_inode_cachep = kmem_cache_create("wsfs_inode",
					      sizeof(struct wsfs_inode), 0,
					      SLAB_RECLAIM_ACCOUNT |
					      SLAB_ACCOUNT,
					      wsfs_inode_init_once);
	return wsfs_inode_cachep ? 0 : -ENOMEM;
}

void wsfs_inode_cache_exit(void)
{
	/* Inodes are freed by RCU; none may be on its way to the cache. */
	rcu_barrier();
	kmem_cache_destroy(wsfs_inode_cachep);
}

struct inode *wsfs_alloc_inode(struct super_block *sb)
{
	struct wsfs_inode *wi = alloc_inode_sb(sb, wsfs_inode_cachep,
					       GFP_KERNEL);

	if (!wi)
		return NULL;
	wi->lower = NULL;
	wi->state = 0;
	wi->stream = WS_STREAM_NONE;
	wi->flags = 0;
	wi->moves = 0;
	wi->home_agno = WSFS_GEO_NONE;
	wi->armed_at = 0;
	wi->anchored_at = 0;
	wi->anchor_retry = jiffies;
	wi->hint = WRITE_LIFE_NOT_SET;
	wi->births = 0;
	return &wi->vfs_inode;
}

void wsfs_free_inode(struct inode *inode)
{
	kmem_cache_free(wsfs_inode_cachep, WSFS_I(inode));
}

void wsfs_evict_inode(struct inode *inode)
{
	struct wsfs_inode *wi = WSFS_I(inode);

	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	wsfs_steer_forget(inode);
	if (S_ISDIR(inode->i_mode))
		wsfs_birth_forget(inode);
	/*
	 * @lower stays set for path walks under RCU that still hold this
	 * inode; the lower inode's memory outlives them as well.
	 */
	iput(wi->lower);
}

/**
 * wsfs_lower_inode_get() - the lower inode, referenced
 * @inode: a wsfs inode
 *
 * For callers that hold neither the i_rwsem nor an open file: SET on an empty
 * regular file replaces the lower inode.
 *
 * Return: the lower inode; the caller drops it with iput().
 */
struct inode *wsfs_lower_inode_get(const struct inode *inode)
{
	struct inode *lower;

	spin_lock((spinlock_t *)&inode->i_lock);
	lower = WSFS_I(inode)->lower;
	ihold(lower);
	spin_unlock((spinlock_t *)&inode->i_lock);
	return lower;
}

/**
 * wsfs_lower_dentry_get() - the lower dentry, referenced
 * @dentry: a wsfs dentry that the caller holds, not a reserved name
 *
 * For callers that hold no i_rwsem; see wsfs_lower_inode_get().
 *
 * Return: the lower dentry; the caller drops it with dput().
 */
struct dentry *wsfs_lower_dentry_get(const struct dentry *dentry)
{
	struct dentry *lower;

	/*
	 * Whoever replaces d_fsdata drops the old one afterwards, and dentries
	 * are freed by RCU: a dead one was replaced, so look again.
	 */
	rcu_read_lock();
	do {
		lower = wsfs_lower_dentry(dentry);
	} while (!lockref_get_not_dead(&lower->d_lockref));
	rcu_read_unlock();
	return lower;
}

static struct path wsfs_lower_path_get(const struct dentry *dentry)
{
	return (struct path) {
		.mnt = wsfs_lower_mnt(dentry->d_sb),
		.dentry = wsfs_lower_dentry_get(dentry),
	};
}

static bool wsfs_attr_differs(const struct inode *inode,
			      const struct inode *lower)
{
	struct timespec64 a, b;

	if (inode->i_mode != lower->i_mode ||
	    inode->i_nlink != lower->i_nlink ||
	    i_size_read(inode) != i_size_read(lower) ||
	    ((inode->i_flags ^ lower->i_flags) & WSFS_COPY_I_FLAGS) ||
	    !uid_eq(inode->i_uid, lower->i_uid) ||
	    !gid_eq(inode->i_gid, lower->i_gid))
		return true;
	a = inode_get_ctime(inode);
	b = inode_get_ctime(lower);
	if (!timespec64_equal(&a, &b))
		return true;
	a = inode_get_mtime(inode);
	b = inode_get_mtime(lower);
	if (!timespec64_equal(&a, &b))
		return true;
	a = inode_get_atime(inode);
	b = inode_get_atime(lower);
	return !timespec64_equal(&a, &b);
}

/**
 * wsfs_copy_size() - bring the copy of the file size up to date
 * @inode: a wsfs inode
 * @lower: its lower inode
 *
 * Runs at the end of every write, on any CPU, from any context, without a
 * lock. Each caller looks at the lower again after it has stored, so the last
 * one to store has stored the last size.
 */
void wsfs_copy_size(struct inode *inode, const struct inode *lower)
{
	loff_t size = i_size_read(lower);

	if (likely(i_size_read(inode) == size))
		return;
	do {
		size = i_size_read(lower);
		i_size_write(inode, size);
		/* Order the store before the next look at the lower. */
		smp_mb();
	} while (i_size_read(lower) != size);
}

/**
 * wsfs_copy_attr() - bring the copies of the lower's attributes up to date
 * @inode: a wsfs inode
 *
 * Takes i_lock when something differs. May run under the i_rwsem or without.
 */
void wsfs_copy_attr(struct inode *inode)
{
	const struct inode *lower;

	/* Only loads when nothing has changed: every stat() comes by. */
	rcu_read_lock();
	if (!wsfs_attr_differs(inode, wsfs_lower_inode(inode))) {
		rcu_read_unlock();
		return;
	}
	rcu_read_unlock();

	spin_lock(&inode->i_lock);
	lower = WSFS_I(inode)->lower;
	inode->i_mode = lower->i_mode;
	inode->i_uid = lower->i_uid;
	inode->i_gid = lower->i_gid;
	inode_set_atime_to_ts(inode, inode_get_atime(lower));
	inode_set_mtime_to_ts(inode, inode_get_mtime(lower));
	inode_set_ctime_to_ts(inode, inode_get_ctime(lower));
	inode_set_flags(inode, lower->i_flags & WSFS_COPY_I_FLAGS,
			WSFS_COPY_I_FLAGS);
	if (inode->i_nlink != lower->i_nlink)
		set_nlink(inode, lower->i_nlink);
	wsfs_copy_size(inode, lower);
	spin_unlock(&inode->i_lock);
}

/* Calls here come with an open file, a path, or an i_rwsem. */
int wsfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask)
{
	struct inode *lower;
	int err;

	/* A walk under RCU holds lower inodes in memory as it holds ours. */
	if ((mask & MAY_NOT_BLOCK) || !S_ISREG(inode->i_mode))
		return inode_permission(idmap, wsfs_lower_inode(inode), mask);

	lower = wsfs_lower_inode_get(inode);
	err = inode_permission(idmap, lower, mask);
	iput(lower);
	return err;
}

int wsfs_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
		 struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	struct dentry *lower = wsfs_lower_dentry(dentry);
	struct inode *lower_inode = d_inode(lower);
	struct vfsmount *mnt = wsfs_lower_mnt(dentry->d_sb);
	struct iattr lower_attr = *attr;
	int err;

	/* The lower's notify_change() works these out for itself. */
	if (lower_attr.ia_valid & (ATTR_KILL_SUID | ATTR_KILL_SGID))
		lower_attr.ia_valid &= ~ATTR_MODE;
	/* XFS wants neither, and O_TRUNC was not passed to the lower's open. */
	lower_attr.ia_valid &= ~(ATTR_FILE | ATTR_OPEN);

	if (attr->ia_valid & ATTR_SIZE) {
		err = get_write_access(lower_inode);
		if (err)
			return err;
	}
	err = mnt_want_write(mnt);
	if (err)
		goto out_put_write;

	inode_lock(lower_inode);
	err = notify_change(idmap, lower, &lower_attr, NULL);
	inode_unlock(lower_inode);
	mnt_drop_write(mnt);
	wsfs_copy_attr(inode);
	if (!err && (attr->ia_valid & ATTR_SIZE))
		wsfs_anchor_truncated(inode, lower);

out_put_write:
	if (attr->ia_valid & ATTR_SIZE)
		put_write_access(lower_inode);
	return err;
}

/*
 * The lower file that SET replaces is unlinked a moment before ours stands for
 * the new one. Returns true if that is why it has no name, when it is over.
 */
static bool wsfs_was_replaced(const struct dentry *dentry,
			      const struct dentry *lower)
{
	struct wsfs_inode *wi = WSFS_I(d_inode(dentry));

	wait_on_bit(&wi->state, WSFS_MOVING, TASK_UNINTERRUPTIBLE);
	return wsfs_lower_dentry(dentry) != lower;
}

int wsfs_getattr(struct mnt_idmap *idmap, const struct path *path,
		 struct kstat *stat, u32 request_mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	struct path lower;
	bool again;
	int err;

	do {
		lower = wsfs_lower_path_get(path->dentry);
		err = vfs_getattr_nosec(&lower, stat, request_mask,
					flags & AT_STATX_SYNC_TYPE);
		again = !err && !stat->nlink && S_ISREG(inode->i_mode) &&
			wsfs_was_replaced(path->dentry, lower.dentry);
		dput(lower.dentry);
	} while (again);
	if (err)
		return err;
	stat->dev = inode->i_sb->s_dev;
	stat->uid = vfsuid_into_kuid(make_vfsuid(idmap, i_user_ns(inode),
						 stat->uid));
	stat->gid = vfsgid_into_kgid(make_vfsgid(idmap, i_user_ns(inode),
						 stat->gid));
	/* Programs count subdirectories by it, and .wsfs is not shown. */
	if (path->dentry == inode->i_sb->s_root &&
	    wsfs_home_exists(inode->i_sb))
		stat->nlink--;
	wsfs_copy_attr(inode);
	return 0;
}

static const char *wsfs_get_link(struct dentry *dentry, struct inode *inode,
				 struct delayed_call *done)
{
	if (!dentry)
		return ERR_PTR(-ECHILD);
	return vfs_get_link(wsfs_lower_dentry(dentry), done);
}

ssize_t wsfs_listxattr(struct dentry *dentry, char *list, size_t size)
{
	struct dentry *lower = wsfs_lower_dentry_get(dentry);
	ssize_t ret = vfs_listxattr(lower, list, size);

	dput(lower);
	return ret;
}

/*
 * The VFS has checked rights, and it translates what holds user ids (file
 * capabilities): once, so what passes here is as it is on disk.
 */
static int wsfs_xattr_get(const struct xattr_handler *handler,
			  struct dentry *dentry, struct inode *inode,
			  const char *name, void *buffer, size_t size)
{
	struct dentry *lower = wsfs_lower_dentry_get(dentry);
	int ret = __vfs_getxattr(lower, d_inode(lower), name, buffer, size);

	dput(lower);
	return ret;
}

static int wsfs_xattr_set(const struct xattr_handler *handler,
			  struct mnt_idmap *idmap, struct dentry *dentry,
			  struct inode *inode, const char *name,
			  const void *value, size_t size, int flags)
{
	struct dentry *lower = wsfs_lower_dentry(dentry);
	struct vfsmount *mnt = wsfs_lower_mnt(dentry->d_sb);
	int err;

	err = mnt_want_write(mnt);
	if (err)
		return err;
	inode_lock(d_inode(lower));
	if (value)
		err = __vfs_setxattr_locked(idmap, lower, name, value, size,
					    flags, NULL);
	else
		err = __vfs_removexattr_locked(idmap, lower, name, NULL);
	inode_unlock(d_inode(lower));
	mnt_drop_write(mnt);
	wsfs_copy_attr(inode);
	return err;
}

static const struct xattr_handler wsfs_xattr_handler = {
	.prefix	= "",	/* every name */
	.get	= wsfs_xattr_get,
	.set	= wsfs_xattr_set,
};

const struct xattr_handler * const wsfs_xattr_handlers[] = {
	&wsfs_xattr_handler,
	NULL
};

struct posix_acl *wsfs_get_inode_acl(struct inode *inode, int type, bool rcu)
{
	struct inode *lower;
	struct posix_acl *acl;

	if (!IS_POSIXACL(wsfs_lower_inode(inode)))
		return NULL;
	if (rcu)
		return get_cached_acl_rcu(wsfs_lower_inode(inode), type);
	lower = wsfs_lower_inode_get(inode);
	acl = get_inode_acl(lower, type);
	iput(lower);
	return acl;
}

struct posix_acl *wsfs_get_acl(struct mnt_idmap *idmap, struct dentry *dentry,
			       int type)
{
	struct dentry *lower = wsfs_lower_dentry_get(dentry);
	struct posix_acl *acl;

	acl = vfs_get_acl(idmap, lower, posix_acl_xattr_name(type));
	dput(lower);
	/* The VFS asks for ACLs that need not be there. */
	return acl == ERR_PTR(-ENODATA) ? NULL : acl;
}

int wsfs_set_acl(struct mnt_idmap *idmap, struct dentry *dentry,
		 struct posix_acl *acl, int type)
{
	struct dentry *lower = wsfs_lower_dentry(dentry);
	struct vfsmount *mnt = wsfs_lower_mnt(dentry->d_sb);
	int err;

	err = mnt_want_write(mnt);
	if (err)
		return err;
	/* Not vfs_set_acl(): the VFS has translated the ids in @acl already. */
	inode_lock(d_inode(lower));
	err = set_posix_acl(idmap, lower, type, acl);
	inode_unlock(d_inode(lower));
	if (!err)
		fsnotify_xattr(lower);
	mnt_drop_write(mnt);
	wsfs_copy_attr(d_inode(dentry));
	return err;
}

int wsfs_fileattr_get(struct dentry *dentry, struct file_kattr *fa)
{
	struct dentry *lower = wsfs_lower_dentry_get(dentry);
	int err = vfs_fileattr_get(lower, fa);

	dput(lower);
	return err;
}

int wsfs_fileattr_set(struct mnt_idmap *idmap, struct dentry *dentry,
		      struct file_kattr *fa)
{
	struct dentry *lower = wsfs_lower_dentry(dentry);
	struct vfsmount *mnt = wsfs_lower_mnt(dentry->d_sb);
	int err;

	err = mnt_want_write(mnt);
	if (err)
		return err;
	err = vfs_fileattr_set(idmap, lower, fa);
	mnt_drop_write(mnt);
	wsfs_copy_attr(d_inode(dentry));
	return err;
}

/*
 * The VFS has decided by the flags of the wsfs mount that the access time is
 * due; touch_atime() looks at those of the lower as well. The other times are
 * the lower's own business.
 */
int wsfs_update_time(struct inode *inode, enum fs_update_time type,
		     unsigned int flags)
{
	struct inode *lower;
	struct path path = { .mnt = wsfs_lower_mnt(inode->i_sb) };

	if (type != FS_UPD_ATIME)
		return 0;
	if (flags & IOCB_NOWAIT)
		return -EAGAIN;
	lower = wsfs_lower_inode_get(inode);
	path.dentry = d_find_any_alias(lower);
	if (path.dentry) {
		touch_atime(&path);
		inode_set_atime_to_ts(inode, inode_get_atime(lower));
		dput(path.dentry);
	}
	iput(lower);
	return 0;
}

static int wsfs_fiemap(struct inode *inode, struct fiemap_extent_info *info,
		       u64 start, u64 len)
{
	struct inode *lower = wsfs_lower_inode_get(inode);
	int err = -EOPNOTSUPP;

	if (lower->i_op->fiemap)
		err = lower->i_op->fiemap(lower, info, start, len);
	iput(lower);
	return err;
}

static const struct inode_operations wsfs_file_iops = {
	.permission	= wsfs_permission,
	.setattr	= wsfs_setattr,
	.getattr	= wsfs_getattr,
	.listxattr	= wsfs_listxattr,
	.get_inode_acl	= wsfs_get_inode_acl,
	.get_acl	= wsfs_get_acl,
	.set_acl	= wsfs_set_acl,
	.fileattr_get	= wsfs_fileattr_get,
	.fileattr_set	= wsfs_fileattr_set,
	.update_time	= WSFS_OP(wsfs_update_time),
	.fiemap		= wsfs_fiemap,
};

static const struct inode_operations wsfs_symlink_iops = {
	.get_link	= wsfs_get_link,
	.permission	= wsfs_permission,
	.setattr	= wsfs_setattr,
	.getattr	= wsfs_getattr,
	.listxattr	= wsfs_listxattr,
	.fileattr_get	= wsfs_fileattr_get,
	.fileattr_set	= wsfs_fileattr_set,
	.update_time	= WSFS_OP(wsfs_update_time),
};

static const struct inode_operations wsfs_special_iops = {
	.permission	= wsfs_permission,
	.setattr	= wsfs_setattr,
	.getattr	= wsfs_getattr,
	.listxattr	= wsfs_listxattr,
	.get_inode_acl	= wsfs_get_inode_acl,
	.get_acl	= wsfs_get_acl,
	.set_acl	= wsfs_set_acl,
	.fileattr_get	= wsfs_fileattr_get,
	.fileattr_set	= wsfs_fileattr_set,
	.update_time	= WSFS_OP(wsfs_update_time),
};

static void wsfs_inode_fill(struct inode *inode, const struct inode *lower)
{
	inode->i_ino = lower->i_ino;
	inode->i_generation = lower->i_generation;
	inode->i_blkbits = lower->i_blkbits;
	inode->i_mode = lower->i_mode;
	inode->i_rdev = lower->i_rdev;
	inode->i_write_hint = lower->i_write_hint;
	/* ACLs are cached below. */
	inode->i_acl = ACL_DONT_CACHE;
	inode->i_default_acl = ACL_DONT_CACHE;

	switch (inode->i_mode & S_IFMT) {
	case S_IFREG:
		inode->i_op = &wsfs_file_iops;
		inode->i_fop = &wsfs_file_fops;
		inode->i_mapping->a_ops = &wsfs_aops;
		break;
	case S_IFDIR:
		inode->i_op = &wsfs_dir_iops;
		inode->i_fop = &wsfs_dir_fops;
		wsfs_birth_recall(inode);
		break;
	case S_IFLNK:
		inode->i_op = &wsfs_symlink_iops;
		break;
	default:
		inode->i_op = &wsfs_special_iops;
		init_special_inode(inode, inode->i_mode, inode->i_rdev);
		break;
	}
	wsfs_copy_attr(inode);
}

static int wsfs_inode_test(struct inode *inode, void *lower)
{
	return wsfs_lower_inode(inode) == lower;
}

static int wsfs_inode_set(struct inode *inode, void *lower)
{
	WSFS_I(inode)->lower = lower;
	return 0;
}

/**
 * wsfs_iget() - the wsfs inode of a lower inode
 * @sb: the wsfs superblock
 * @lower: a lower inode that the caller holds
 *
 * Return: the inode, referenced, or ERR_PTR(-ENOMEM).
 */
struct inode *wsfs_iget(struct super_block *sb, struct inode *lower)
{
	struct inode *inode;

	ihold(lower);
	inode = iget5_locked(sb, (unsigned long)lower, wsfs_inode_test,
			     wsfs_inode_set, lower);
	if (!inode) {
		iput(lower);
		return ERR_PTR(-ENOMEM);
	}
	if (inode_state_read_once(inode) & I_NEW) {
		wsfs_inode_fill(inode, lower);
		unlock_new_inode(inode);
	} else {
		iput(lower);
		wsfs_copy_attr(inode);
	}
	return inode;
}

/**
 * wsfs_ilookup() - the wsfs inode of a lower inode, if it is in memory
 * @sb: the wsfs superblock
 * @lower: a lower inode that the caller holds
 *
 * Return: the inode, referenced, or NULL.
 */
struct inode *wsfs_ilookup(struct super_block *sb, struct inode *lower)
{
	return ilookup5(sb, (unsigned long)lower, wsfs_inode_test, lower);
}

/**
 * wsfs_inode_rehash() - give an inode another lower inode
 * @inode: inode of a regular file
 * @lower: the new lower inode; a reference is taken
 *
 * The caller holds wsfs_inode.lock and the i_rwsem of the only directory that
 * has a name for it, so that nobody looks for either lower inode meanwhile. The
 * reference to the old lower inode goes to the caller.
 */
void wsfs_inode_rehash(struct inode *inode, struct inode *lower)
{
	ihold(lower);
	remove_inode_hash(inode);
	spin_lock(&inode->i_lock);
	WRITE_ONCE(WSFS_I(inode)->lower, lower);
	inode->i_ino = lower->i_ino;
	inode->i_generation = lower->i_generation;
	spin_unlock(&inode->i_lock);
	__insert_inode_hash(inode, (unsigned long)lower);
	wsfs_copy_attr(inode);
}
