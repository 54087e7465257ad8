// SPDX-License-Identifier: GPL-2.0
/*
 * Names: every change of a directory is made in the lower directory, under its
 * lock and by the VFS's own helpers, and then shown in the wsfs dcache.
 *
 * A wsfs dentry holds the lower dentry of the same name in d_fsdata, a negative
 * one too: that is how a name that appears, moves or goes below is noticed
 * (wsfs_d_revalidate()). A reserved name has none.
 */

#include <linux/cred.h>
#include <linux/namei.h>
#include "wsfs.h"

#define WSFS_RESERVED_NAME	".wsfs"

/**
 * wsfs_name_reserved() - is a name wsfs's own
 * @parent: directory it is looked for in
 * @name: the name
 *
 * Return: true for what must neither be seen nor made through wsfs.
 */
bool wsfs_name_reserved(const struct dentry *parent, const struct qstr *name)
{
	return IS_ROOT(parent) && name->len == strlen(WSFS_RESERVED_NAME) &&
	       !memcmp(name->name, WSFS_RESERVED_NAME, name->len);
}

static void wsfs_d_release(struct dentry *dentry)
{
	dput(wsfs_lower_dentry(dentry));
}

static bool wsfs_lower_dentry_fits(const struct dentry *lower,
				   const struct inode *lower_dir,
				   const struct qstr *name,
				   const struct inode *inode)
{
	const struct inode *lower_inode = d_inode_rcu(lower);

	return !d_unhashed(lower) &&
	       d_inode_rcu(READ_ONCE(lower->d_parent)) == lower_dir &&
	       d_same_name(lower, READ_ONCE(lower->d_parent), name) &&
	       lower_inode == (inode ? wsfs_lower_inode(inode) : NULL);
}

static bool wsfs_d_valid(struct inode *dir, const struct qstr *name,
			 struct dentry *dentry)
{
	struct dentry *lower;
	bool valid;

	rcu_read_lock();
	lower = wsfs_lower_dentry(dentry);
	valid = !lower || wsfs_lower_dentry_fits(lower, wsfs_lower_inode(dir),
						 name, d_inode_rcu(dentry));
	rcu_read_unlock();
	return valid;
}

/*
 * Somebody may have changed the lower directly. Takes no lock and no reference
 * when the answer is yes, so that walks stay under RCU.
 */
int wsfs_d_revalidate(struct inode *dir, const struct qstr *name,
		      struct dentry *dentry, unsigned int flags)
{
	struct inode *inode;

	if (!wsfs_d_valid(dir, name, dentry)) {
		if (flags & LOOKUP_RCU)
			return -ECHILD;
		/*
		 * Another task may just be making the change through wsfs,
		 * with the lower ahead of our dcache. It holds the i_rwsem, so
		 * we do not, and can wait for it.
		 */
		smp_rmb();
		if (test_bit_acquire(WSFS_CHANGING, &WSFS_I(dir)->state)) {
			inode_lock_shared(dir);
			inode_unlock_shared(dir);
		}
		if (!wsfs_d_valid(dir, name, dentry))
			return 0;
	}
	/* A mode changed below has to be seen by the VFS's own checks. */
	inode = d_inode_rcu(dentry);
	if (inode && !(flags & LOOKUP_RCU))
		wsfs_copy_attr(inode);
	return 1;
}

const struct dentry_operations wsfs_dentry_ops = {
	.d_revalidate	= WSFS_OP(wsfs_d_revalidate),
	.d_release	= wsfs_d_release,
};

/*
 * Around every change that the lower sees before our dcache does. The caller
 * holds the i_rwsem of @dir exclusively.
 */
void wsfs_change_begin(struct inode *dir)
{
	set_bit(WSFS_CHANGING, &WSFS_I(dir)->state);
	/*
	 * Before the lower changes. Who sees a dentry that does not fit either
	 * sees the bit after that, or finds the change complete.
	 */
	smp_mb__after_atomic();
}

void wsfs_change_end(struct inode *dir)
{
	clear_bit_unlock(WSFS_CHANGING, &WSFS_I(dir)->state);
}

static void wsfs_set_lower_dentry(struct dentry *dentry, struct dentry *lower)
{
	dput(xchg(&dentry->d_fsdata, lower));
}

static struct dentry *wsfs_lookup(struct inode *dir, struct dentry *dentry,
				  unsigned int flags)
{
	struct dentry *lower_dir = wsfs_lower_dentry(dentry->d_parent);
	struct dentry *lower, *alias;
	struct inode *inode = NULL;

	if (wsfs_name_reserved(dentry->d_parent, &dentry->d_name)) {
		d_add(dentry, NULL);
		return NULL;
	}

	/* The VFS has checked the right to search through wsfs_permission(). */
	lower = lookup_noperm_unlocked(&QSTR_LEN(dentry->d_name.name,
						 dentry->d_name.len),
				       lower_dir);
	if (IS_ERR(lower))
		return lower;

	dentry->d_fsdata = lower;
	if (d_is_positive(lower)) {
		inode = wsfs_iget(dir->i_sb, d_inode(lower));
		if (IS_ERR(inode))
			return ERR_CAST(inode);
	}
	alias = d_splice_alias(inode, dentry);
	/* A directory moved below keeps its dentry, not its lower one. */
	if (!IS_ERR_OR_NULL(alias) && wsfs_lower_dentry(alias) != lower)
		wsfs_set_lower_dentry(alias, dget(lower));
	return alias;
}

/*
 * What every creation shares. wsfs_begin_create() locks the lower directory
 * and returns the lower dentry for the name; wsfs_end_create() shows in wsfs
 * what was made there.
 */
static struct dentry *wsfs_begin_create(struct dentry *dentry)
{
	struct vfsmount *mnt = wsfs_lower_mnt(dentry->d_sb);
	struct dentry *lower;
	int err;

	if (wsfs_name_reserved(dentry->d_parent, &dentry->d_name))
		return ERR_PTR(-EPERM);
	err = mnt_want_write(mnt);
	if (err)
		return ERR_PTR(err);
	lower = start_creating_noperm(wsfs_lower_dentry(dentry->d_parent),
				      &QSTR_LEN(dentry->d_name.name,
						dentry->d_name.len));
	if (IS_ERR(lower))
		mnt_drop_write(mnt);
	else
		wsfs_change_begin(d_inode(dentry->d_parent));
	return lower;
}

/**
 * wsfs_remove_locked() - remove a name of the lower
 * @mnt: mount of the lower
 * @lower: the dentry; its directory is locked
 *
 * Return: 0 or what the lower says.
 */
int wsfs_remove_locked(struct vfsmount *mnt, struct dentry *lower)
{
	struct inode *lower_dir = d_inode(lower->d_parent);

	if (d_is_dir(lower))
		return vfs_rmdir(mnt_idmap(mnt), lower_dir, lower, NULL);
	return vfs_unlink(mnt_idmap(mnt), lower_dir, lower, NULL);
}

/*
 * unlink, rmdir and link come without the idmap of the mount, so the lower
 * cannot judge the caller once more. The VFS has; its changes of the lower are
 * made as the mounter.
 */
static int wsfs_remove_as_mounter(struct wsfs_sb *wsb, struct dentry *lower)
{
	const struct cred *old_cred = override_creds(wsb->cred);
	int err = wsfs_remove_locked(wsb->lower_mnt, lower);

	revert_creds(old_cred);
	return err;
}

/* @lower: what wsfs_begin_create() or vfs_mkdir() returned */
static int wsfs_end_create(struct inode *dir, struct dentry *dentry,
			   struct dentry *lower, int err)
{
	struct inode *inode;

	if (!err) {
		inode = wsfs_iget(dir->i_sb, d_inode(lower));
		if (IS_ERR(inode)) {
			err = PTR_ERR(inode);
			/* Nobody has seen it: the directory is locked. */
			wsfs_remove_as_mounter(WSFS_SB(dir->i_sb), lower);
		} else {
			wsfs_set_lower_dentry(dentry, dget(lower));
			d_instantiate(dentry, inode);
		}
	}
	wsfs_change_end(dir);
	end_creating(lower);
	mnt_drop_write(wsfs_lower_mnt(dir->i_sb));
	wsfs_copy_attr(dir);
	return err;
}

int wsfs_create(struct mnt_idmap *idmap, struct inode *dir,
		struct dentry *dentry, umode_t mode)
{
	struct wsfs_birth birth;
	struct dentry *lower;
	int err;

	wsfs_birth_begin(&birth, idmap, dir, dentry, mode);
	lower = wsfs_begin_create(dentry);
	err = PTR_ERR_OR_ZERO(lower);
	if (!err) {
		/* What the lower refuses it refuses by its own errno. */
		if (!birth.file || wsfs_birth_link(&birth, lower))
			err = vfs_create(idmap, lower, mode, NULL);
		err = wsfs_end_create(dir, dentry, lower, err);
	}
	wsfs_birth_end(&birth, dentry, dentry->d_parent, err);
	return err;
}

static int wsfs_mknod(struct mnt_idmap *idmap, struct inode *dir,
		      struct dentry *dentry, umode_t mode, dev_t dev)
{
	struct dentry *lower = wsfs_begin_create(dentry);
	int err;

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	err = vfs_mknod(idmap, d_inode(lower->d_parent), lower, mode, dev,
			NULL);
	return wsfs_end_create(dir, dentry, lower, err);
}

static int wsfs_symlink(struct mnt_idmap *idmap, struct inode *dir,
			struct dentry *dentry, const char *target)
{
	struct dentry *lower = wsfs_begin_create(dentry);
	int err;

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	err = vfs_symlink(idmap, d_inode(lower->d_parent), lower, target,
			  NULL);
	return wsfs_end_create(dir, dentry, lower, err);
}

struct dentry *wsfs_mkdir(struct mnt_idmap *idmap, struct inode *dir,
			  struct dentry *dentry, umode_t mode)
{
	struct dentry *lower = wsfs_begin_create(dentry);
	int err;

	if (IS_ERR(lower))
		return lower;
	/* Unlocks and drops @lower itself when it fails. */
	lower = vfs_mkdir(idmap, d_inode(lower->d_parent), lower, mode, NULL);
	err = wsfs_end_create(dir, dentry, lower, PTR_ERR_OR_ZERO(lower));
	if (!err)
		wsfs_birth_inherit(dir, d_inode(dentry));
	return ERR_PTR(err);
}

static int wsfs_link(struct dentry *old_dentry, struct inode *dir,
		     struct dentry *dentry)
{
	struct inode *inode = d_inode(old_dentry);
	struct dentry *lower = wsfs_begin_create(dentry);
	const struct cred *old_cred;
	int err;

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	old_cred = override_creds(WSFS_SB(dir->i_sb)->cred);
	/* The VFS holds the i_rwsem of @inode: no SET meanwhile. */
	err = vfs_link(wsfs_lower_dentry(old_dentry),
		       wsfs_lower_idmap(dir->i_sb), d_inode(lower->d_parent),
		       lower, NULL);
	revert_creds(old_cred);
	if (!err) {
		wsfs_set_lower_dentry(dentry, dget(lower));
		ihold(inode);
		d_instantiate(dentry, inode);
	}
	wsfs_change_end(dir);
	end_creating(lower);
	mnt_drop_write(wsfs_lower_mnt(dir->i_sb));
	wsfs_copy_attr(inode);
	wsfs_copy_attr(dir);
	return err;
}

/*
 * What may_delete() reads of a wsfs inode (the sticky bit, owners) is a copy.
 * Brings it up to date; returns false if it was not.
 */
static bool wsfs_judged_well(struct inode *inode)
{
	const struct inode *lower = wsfs_lower_inode(inode);
	bool same = inode->i_mode == lower->i_mode &&
		    uid_eq(inode->i_uid, lower->i_uid) &&
		    gid_eq(inode->i_gid, lower->i_gid);

	if (!same)
		wsfs_copy_attr(inode);
	return same;
}

static int wsfs_remove(struct inode *dir, struct dentry *dentry)
{
	struct vfsmount *mnt = wsfs_lower_mnt(dir->i_sb);
	struct dentry *lower;
	int err;

	/* Changed below: the VFS looks again, and judges again. */
	if (!wsfs_judged_well(dir) || !wsfs_judged_well(d_inode(dentry)))
		return -ESTALE;
	err = mnt_want_write(mnt);
	if (err)
		return err;
	lower = start_removing_dentry(wsfs_lower_dentry(dentry->d_parent),
				      wsfs_lower_dentry(dentry));
	if (IS_ERR(lower)) {
		/* Moved or removed below; another lookup will tell. */
		err = PTR_ERR(lower) == -EINVAL ? -ESTALE : PTR_ERR(lower);
		goto out;
	}
	wsfs_change_begin(dir);
	err = wsfs_remove_as_mounter(WSFS_SB(dir->i_sb), lower);
	/* The lower dentry is gone: let the next lookup find a fresh one. */
	if (!err)
		d_drop(dentry);
	wsfs_change_end(dir);
	end_removing(lower);
out:
	mnt_drop_write(mnt);
	wsfs_copy_attr(d_inode(dentry));
	wsfs_copy_attr(dir);
	return err;
}

static int wsfs_rename(struct mnt_idmap *idmap,
		       struct inode *old_dir, struct dentry *old_dentry,
		       struct inode *new_dir, struct dentry *new_dentry,
		       unsigned int flags)
{
	struct vfsmount *mnt = wsfs_lower_mnt(old_dir->i_sb);
	struct inode *target = d_inode(new_dentry);
	struct renamedata rd = {
		.mnt_idmap	= idmap,
		.old_parent	= wsfs_lower_dentry(old_dentry->d_parent),
		.new_parent	= wsfs_lower_dentry(new_dentry->d_parent),
		.flags		= flags,
	};
	int err;

	/* Neither may anything take the name, nor an exchange give it. */
	if (wsfs_name_reserved(new_dentry->d_parent, &new_dentry->d_name))
		return -EPERM;
	err = mnt_want_write(mnt);
	if (err)
		return err;
	err = start_renaming_dentry(&rd, 0, wsfs_lower_dentry(old_dentry),
				    &QSTR_LEN(new_dentry->d_name.name,
					      new_dentry->d_name.len));
	if (err) {
		if (err == -EINVAL)
			err = -ESTALE;
		goto out;
	}
	wsfs_change_begin(old_dir);
	wsfs_change_begin(new_dir);
	/* Replace what the caller has seen, not what came there since. */
	if (d_inode(rd.new_dentry) !=
	    (target ? wsfs_lower_inode(target) : NULL))
		err = -ESTALE;
	else
		err = vfs_rename(&rd);
	/* Here, not in the VFS: FS_RENAME_DOES_D_MOVE. */
	if (!err && (flags & RENAME_EXCHANGE))
		d_exchange(old_dentry, new_dentry);
	else if (!err)
		d_move(old_dentry, new_dentry);
	wsfs_change_end(new_dir);
	wsfs_change_end(old_dir);
	end_renaming(&rd);
out:
	mnt_drop_write(mnt);
	wsfs_copy_attr(old_dir);
	wsfs_copy_attr(new_dir);
	wsfs_copy_attr(d_inode(old_dentry));
	if (target)
		wsfs_copy_attr(target);
	return err;
}

/*
 * Opening an O_TMPFILE file in the lower takes no idmap: the file is made as
 * whom the idmap makes of the caller. The VFS has checked his rights, and his
 * groups say nothing below.
 */
static struct cred *wsfs_mapped_cred(struct mnt_idmap *idmap,
				     const struct inode *dir)
{
	struct cred *cred = prepare_creds();

	if (!cred)
		return ERR_PTR(-ENOMEM);
	if (idmap != &nop_mnt_idmap) {
		cred->fsuid = mapped_fsuid(idmap, i_user_ns(dir));
		cred->fsgid = mapped_fsgid(idmap, i_user_ns(dir));
		cap_raise(cred->cap_effective, CAP_DAC_OVERRIDE);
		cap_raise(cred->cap_effective, CAP_FSETID);
	}
	if (uid_valid(cred->fsuid) && gid_valid(cred->fsgid))
		return cred;
	put_cred(cred);
	return ERR_PTR(-EOVERFLOW);
}

static int wsfs_tmpfile(struct mnt_idmap *idmap, struct inode *dir,
			struct file *file, umode_t mode)
{
	struct dentry *dentry = file->f_path.dentry;
	struct path lower_dir = {
		.mnt = wsfs_lower_mnt(dir->i_sb),
		.dentry = wsfs_lower_dentry(dentry->d_parent),
	};
	const struct cred *old_cred;
	struct dentry *agdir = NULL;
	struct wsfs_birth birth;
	struct wsfs_file *wf;
	struct inode *inode;
	struct file *lower;
	struct cred *cred;
	int err;

	err = mnt_want_write(lower_dir.mnt);
	if (err)
		return err;
	cred = wsfs_birth_tmpfile(&birth, idmap, dir, dentry, mode, &agdir);
	if (agdir)
		lower_dir.dentry = agdir;
	else
		cred = wsfs_mapped_cred(idmap, dir);
	if (IS_ERR(cred)) {
		mnt_drop_write(lower_dir.mnt);
		return PTR_ERR(cred);
	}
	old_cred = override_creds(cred);
	lower = backing_tmpfile_open(file, file->f_flags | O_NOATIME,
				     &lower_dir, mode, old_cred);
	revert_creds(old_cred);
	put_cred(cred);
	dput(agdir);
	/* Opening takes wsfs_inode.lock, inside which SET asks for the lower. */
	mnt_drop_write(lower_dir.mnt);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	wf = wsfs_file_alloc(lower);
	if (!wf)
		return -ENOMEM;	/* @lower is dropped */

	inode = wsfs_iget(dir->i_sb, file_inode(lower));
	if (IS_ERR(inode)) {
		wsfs_file_free(wf);
		return PTR_ERR(inode);
	}
	dentry->d_fsdata = dget(lower->f_path.dentry);
	d_mark_tmpfile(file, inode);
	d_instantiate(dentry, inode);
	file->private_data = wf;	/* wsfs_file_open() takes it up */
	err = finish_open(file, dentry, NULL);
	if (err && !(file->f_mode & FMODE_OPENED)) {
		file->private_data = NULL;
		wsfs_file_free(wf);
	}
	wsfs_birth_end(&birth, dentry, NULL, err);
	return err;
}

const struct inode_operations wsfs_dir_iops = {
	.lookup		= wsfs_lookup,
	.create		= WSFS_OP(wsfs_create),
	.mkdir		= WSFS_OP(wsfs_mkdir),
	.mknod		= wsfs_mknod,
	.symlink	= wsfs_symlink,
	.link		= wsfs_link,
	.unlink		= wsfs_remove,
	.rmdir		= wsfs_remove,
	.rename		= wsfs_rename,
	.tmpfile	= wsfs_tmpfile,
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

/* The wsfs dentry that stands for a lower directory, if it is in memory */
static struct dentry *wsfs_known_dir(struct super_block *sb,
				     struct dentry *lower)
{
	struct dentry *dentry = NULL;
	struct inode *inode;

	if (lower == lower->d_sb->s_root)
		return dget(sb->s_root);
	inode = wsfs_ilookup(sb, d_inode(lower));
	if (inode) {
		dentry = d_find_any_alias(inode);
		iput(inode);
	}
	return dentry;
}

/* Looks the name of @lower up in @dir, which stands for its parent. */
static struct dentry *wsfs_lookup_lower(struct dentry *dir,
					struct dentry *lower)
{
	struct name_snapshot name;
	struct dentry *dentry;
	bool reserved;

	take_dentry_name_snapshot(&name, lower);
	reserved = wsfs_name_reserved(dir, &name.name);
	dentry = lookup_noperm_unlocked(&QSTR_LEN(name.name.name,
						  name.name.len), dir);
	release_dentry_name_snapshot(&name);
	if (IS_ERR(dentry))
		return dentry;
	if (d_is_positive(dentry) && wsfs_lower_dentry(dentry) == lower)
		return dentry;
	dput(dentry);
	return ERR_PTR(reserved ? -ENOENT : -ESTALE);
}

/* The uppermost part of the way from the root to @lower that is not known */
static struct dentry *wsfs_next_step(struct super_block *sb,
				     struct dentry *lower)
{
	struct dentry *child = dget(lower);
	struct dentry *dir, *parent, *dentry;

	for (;;) {
		parent = dget_parent(child);
		if (parent == child) {
			/* Nothing above it, and not the root */
			dentry = ERR_PTR(-ESTALE);
			break;
		}
		dir = wsfs_known_dir(sb, parent);
		if (dir) {
			dentry = wsfs_lookup_lower(dir, child);
			dput(dir);
			break;
		}
		dput(child);
		child = parent;
	}
	dput(parent);
	dput(child);
	return dentry;
}

/**
 * wsfs_dentry_for_lower() - the wsfs dentry of a lower one
 * @sb: the wsfs superblock
 * @lower: a dentry of the lower superblock that has a name
 *
 * Goes down to it name by name, from the nearest directory that is known.
 *
 * Return: the dentry, referenced, or an ERR_PTR: ENOENT for wsfs's own
 * directory and what is in it, ESTALE when @lower was moved meanwhile.
 */
struct dentry *wsfs_dentry_for_lower(struct super_block *sb,
				     struct dentry *lower)
{
	struct dentry *dentry = NULL, *next;

	if (lower == lower->d_sb->s_root)
		return dget(sb->s_root);
	do {
		next = wsfs_next_step(sb, lower);
		/* Held until then, so that the next step finds it known */
		dput(dentry);
		dentry = next;
	} while (!IS_ERR(dentry) && wsfs_lower_dentry(dentry) != lower);
	return dentry;
}
