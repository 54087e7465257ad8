// SPDX-License-Identifier: GPL-2.0
/*
 * Births: where a new file is made.
 *
 * A directory can have a stream for the files made in it, or, like the whole
 * mount, have them take turns over the AGs. Such a file is made
 * in the AG where it is to live, as an unlinked file of that AG's directory
 * (home.c), and is then linked to its name: one inode is made, none replaced.
 * A crash leaves the file with its name or nothing.
 *
 * It must not show. A file inherits from its directory, so this is done only
 * where the directory has nothing that one of ours has not: no default ACL, no
 * project, none of XFS's flags and hints. The owner, the group of a setgid
 * directory and the label are the caller's, by the credentials it is made with;
 * so quota is charged and enforced as ever. In all other directories XFS makes
 * the file, with what it inherits, and the file is then moved as SET moves it.
 *
 * The places of directories are kept in memory, by inode number: inodes come
 * and go, and a stream ends only with its reservation.
 */

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/fileattr.h>
#include <linux/file.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/posix_acl.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../uapi/linux/wsfs.h"
#include "wsfs.h"

/* AGs without room for an inode that one file tries */
#define WSFS_BIRTH_TRIES	4

/* Flags of a directory that say nothing of the files made in it */
#define WSFS_NOT_INHERITED \
	(FS_XFLAG_HASATTR | FS_XFLAG_IMMUTABLE | FS_XFLAG_APPEND)

/**
 * struct wsfs_dir - the place of a directory's files
 * @ino: of the lower directory
 * @generation: ditto, for one that was removed below
 * @how: WSFS_DIR_*, not %WSFS_DIR_DEFAULT
 * @ref: the stream
 */
struct wsfs_dir {
	u64			ino;
	u32			generation;
	u32			how;
	struct ws_stream_ref	ref;
};

static bool wsfs_is_spread(u32 how)
{
	return how == WSFS_DIR_SPREAD || how == WSFS_DIR_SPREAD_FREE;
}

static bool wsfs_dir_is_over(struct wsfs_sb *wsb, u32 how,
			     struct ws_stream_ref ref)
{
	return how == WSFS_DIR_STREAM && !ws_stream_live(wsb->pool, ref);
}

static void wsfs_dir_use(struct inode *inode, u32 how, struct ws_stream_ref ref)
{
	struct wsfs_inode *wi = WSFS_I(inode);

	WRITE_ONCE(wi->stream.token, ref.token);
	WRITE_ONCE(wi->births, how);
}

/* Under the i_rwsem of the directory, or before anybody can see it. */
static int wsfs_dir_store(struct inode *inode, u32 how, struct ws_stream_ref ref)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	const struct inode *lower = wsfs_lower_inode(inode);
	struct wsfs_dir *entry = NULL, *old;

	if (how == WSFS_DIR_DEFAULT) {
		kfree(xa_erase(&wsb->dirs, lower->i_ino));
		wsfs_dir_use(inode, how, ref);
		return 0;
	}
	entry = kmalloc_obj(*entry, GFP_KERNEL_ACCOUNT);
	if (!entry)
		return -ENOMEM;
	*entry = (struct wsfs_dir) {
		.ino		= lower->i_ino,
		.generation	= lower->i_generation,
		.how		= how,
		.ref		= ref,
	};
	old = xa_store(&wsb->dirs, lower->i_ino, entry, GFP_KERNEL_ACCOUNT);
	if (xa_is_err(old)) {
		kfree(entry);
		return xa_err(old);
	}
	kfree(old);
	wsfs_dir_use(inode, how, ref);
	return 0;
}

/* Forgets the directories of streams that are released. */
static void wsfs_dir_purge(struct wsfs_sb *wsb)
{
	struct wsfs_dir *entry;
	unsigned long ino;

	xa_lock(&wsb->dirs);
	xa_for_each(&wsb->dirs, ino, entry) {
		if (!wsfs_dir_is_over(wsb, entry->how, entry->ref))
			continue;
		__xa_erase(&wsb->dirs, ino);
		kfree(entry);
	}
	xa_unlock(&wsb->dirs);
}

/**
 * wsfs_birth_recall() - a directory comes to memory again
 * @inode: a wsfs directory that nobody can see yet
 */
void wsfs_birth_recall(struct inode *inode)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	const struct inode *lower = wsfs_lower_inode(inode);
	struct wsfs_dir *entry;

	if (xa_empty(&wsb->dirs))
		return;
	xa_lock(&wsb->dirs);
	entry = xa_load(&wsb->dirs, lower->i_ino);
	if (entry && entry->ino == lower->i_ino &&
	    entry->generation == lower->i_generation)
		wsfs_dir_use(inode, entry->how, entry->ref);
	xa_unlock(&wsb->dirs);
}

/**
 * wsfs_birth_forget() - a directory leaves memory
 * @inode: a wsfs directory that is being evicted
 */
void wsfs_birth_forget(struct inode *inode)
{
	const struct inode *lower = wsfs_lower_inode(inode);

	if (WSFS_I(inode)->births && !lower->i_nlink)
		kfree(xa_erase(&WSFS_SB(inode->i_sb)->dirs, lower->i_ino));
}

/**
 * wsfs_birth_exit() - forget all directories
 * @wsb: a superblock whose inodes are gone
 */
void wsfs_birth_exit(struct wsfs_sb *wsb)
{
	struct wsfs_dir *entry;
	unsigned long ino;

	xa_for_each(&wsb->dirs, ino, entry)
		kfree(entry);
	xa_destroy(&wsb->dirs);
}

/**
 * wsfs_birth_inherit() - a directory was made in a directory
 * @dir: the parent, its i_rwsem held
 * @inode: the new one
 */
void wsfs_birth_inherit(struct inode *dir, struct inode *inode)
{
	struct wsfs_inode *wi = WSFS_I(dir);

	if (likely(wi->births == WSFS_DIR_DEFAULT) ||
	    wsfs_dir_is_over(WSFS_SB(dir->i_sb), wi->births, wi->stream))
		return;
	inode_lock_nested(inode, I_MUTEX_CHILD);
	/*
	 * Not where somebody was faster to set it. Without memory it inherits
	 * until it leaves memory itself.
	 */
	if (WSFS_I(inode)->births == WSFS_DIR_DEFAULT &&
	    wsfs_dir_store(inode, wi->births, wi->stream))
		wsfs_dir_use(inode, wi->births, wi->stream);
	inode_unlock(inode);
}

/* Is there something that new files in the directory cannot be given? */
static int wsfs_may_place(struct file *file, u32 how)
{
	struct wsfs_sb *wsb = WSFS_SB(file_inode(file)->i_sb);
	u32 xflags;
	int err;

	if (how == WSFS_DIR_DEFAULT || how == WSFS_DIR_NEAR)
		return 0;
	err = wsfs_lower_xflags(file_dentry(file), &xflags);
	if (err)
		return err;
	if (wsb->geo.realtime && (xflags & FS_XFLAG_RTINHERIT))
		return -EXDEV;
	if (wsb->filestreams || (xflags & FS_XFLAG_FILESTREAM))
		return -EBUSY;
	return 0;
}

/**
 * wsfs_birth_set_dir() - WSFS_IOC_SET_DIR
 * @file: any open wsfs file
 * @place: the argument
 *
 * Takes the i_rwsem.
 *
 * Return: 0 or the errors of uapi/linux/wsfs.h.
 */
int wsfs_birth_set_dir(struct file *file, const struct wsfs_dir_place *place)
{
	struct inode *inode = file_inode(file);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct ws_stream_ref ref = WS_STREAM_NONE;
	struct file *stream_file = NULL;
	int err;

	if (place->how > WSFS_DIR_SPREAD_FREE ||
	    memchr_inv(place->reserved, 0, sizeof(place->reserved)))
		return -EINVAL;
	if (!S_ISDIR(inode->i_mode))
		return -ENOTDIR;
	if (place->how == WSFS_DIR_STREAM) {
		if (!ws_pool_nr(wsb->pool))
			return -EOPNOTSUPP;
		/* Held so that the reservation cannot go meanwhile. */
		stream_file = ws_stream_fget(wsb->pool, place->stream_fd, &ref);
		if (IS_ERR(stream_file))
			return PTR_ERR(stream_file);
	} else if (place->stream_fd != -1) {
		return -EINVAL;
	} else if (wsfs_is_spread(place->how) && !wsb->home) {
		return -EOPNOTSUPP;
	}
	err = mnt_want_write_file(file);
	if (err)
		goto out_fput;
	wsfs_dir_purge(wsb);
	inode_lock(inode);
	err = wsfs_steer_may_set(file);
	if (!err && IS_DEADDIR(inode))
		err = -ENOENT;
	if (!err)
		err = wsfs_may_place(file, place->how);
	if (!err)
		err = wsfs_dir_store(inode, place->how, ref);
	inode_unlock(inode);
	mnt_drop_write_file(file);
out_fput:
	if (stream_file)
		fput(stream_file);
	return err;
}

/* Fills in @birth; returns false where the file is to be as XFS makes it. */
static bool wsfs_birth_wanted(struct wsfs_birth *birth, const struct inode *dir)
{
	struct wsfs_sb *wsb = WSFS_SB(dir->i_sb);
	const struct wsfs_inode *wi = WSFS_I(dir);

	*birth = (struct wsfs_birth) {
		.how		= READ_ONCE(wi->births),
		.ref.token	= READ_ONCE(wi->stream.token),
		.agno		= WSFS_GEO_NONE,
	};
	if (birth->how == WSFS_DIR_DEFAULT ||
	    wsfs_dir_is_over(wsb, birth->how, birth->ref))
		birth->how = READ_ONCE(wsb->spread);
	return birth->how != WSFS_DIR_NEAR;
}

/* Which AGs the file may go to */
static u32 wsfs_birth_set(const struct wsfs_birth *birth)
{
	switch (birth->how) {
	case WSFS_DIR_SPREAD:
		return WSFS_SET_ALL;
	case WSFS_DIR_SPREAD_FREE:
		return WSFS_SET_FREE;
	}
	return ws_stream_ref_id(birth->ref);
}

/*
 * Does XFS give a file made in @lower_dir nothing that it does not give to one
 * made in a directory of ours by the right caller?
 */
static bool wsfs_birth_is_plain(struct wsfs_sb *wsb, struct dentry *lower_dir,
				umode_t mode)
{
	struct inode *dir = d_inode(lower_dir);
	struct file_kattr fa = {};
	struct posix_acl *acl;

	/* Whether it keeps the setgid bit depends on the directory's group. */
	if (wsb->grpid || (mode & S_ISGID))
		return false;
	if (vfs_fileattr_get(lower_dir, &fa))
		return false;
	if (!fa.fsx_projid)
		fa.fsx_xflags &= ~FS_XFLAG_PROJINHERIT;
	if (fa.fsx_xflags & ~WSFS_NOT_INHERITED)
		return false;
	acl = get_inode_acl(dir, ACL_TYPE_DEFAULT);
	if (!IS_ERR_OR_NULL(acl))
		posix_acl_release(acl);
	return !acl;
}

/*
 * The mounter, who may enter our directories, with what of the caller a new
 * file shows: owner, group and label. The VFS has checked his rights.
 */
static struct cred *wsfs_birth_cred(struct wsfs_sb *wsb,
				    struct mnt_idmap *idmap,
				    struct dentry *lower_dir,
				    const struct dentry *dentry, umode_t mode)
{
	const struct inode *dir = d_inode(lower_dir);
	struct dentry *named = d_alloc(lower_dir, &dentry->d_name);
	kuid_t fsuid = mapped_fsuid(idmap, i_user_ns(dir));
	kgid_t fsgid = dir->i_mode & S_ISGID ? dir->i_gid :
		       mapped_fsgid(idmap, i_user_ns(dir));
	const struct cred *caller = override_creds(wsb->cred);
	struct cred *cred = prepare_creds();
	int err = -ENOMEM;

	revert_creds(caller);
	if (!cred || !named)
		goto out;
	cred->fsuid = fsuid;
	cred->fsgid = fsgid;
	err = -EOVERFLOW;
	if (uid_valid(cred->fsuid) && gid_valid(cred->fsgid))
		err = security_dentry_create_files_as(named, mode,
						      &named->d_name, caller,
						      cred);
out:
	dput(named);
	if (!err)
		return cred;
	if (cred)
		put_cred(cred);
	return ERR_PTR(err);
}

/*
 * The directory of the AG whose turn it is; NULL when that is where the file's
 * own directory lies, or none can be had.
 */
static struct dentry *wsfs_birth_agdir(struct wsfs_birth *birth,
				       struct wsfs_sb *wsb,
				       const struct dentry *lower_dir,
				       struct wsfs_turn *turn)
{
	u64 ino = d_inode(lower_dir)->i_ino;
	struct dentry *agdir;
	u32 agno;

	while ((agno = wsfs_turn_next(turn)) != WSFS_GEO_NONE) {
		birth->agno = agno;
		if (wsfs_geo_ino_to_agno(&turn->geo, ino) == agno)
			return NULL;
		agdir = wsfs_home_agdir(wsb, agno);
		if (agdir)
			return agdir;
	}
	birth->agno = WSFS_GEO_NONE;
	return NULL;
}

/* Makes the file without a name. Under the mounter's credentials */
static void wsfs_birth_make(struct wsfs_birth *birth, struct wsfs_sb *wsb,
			    const struct dentry *lower_dir,
			    const struct cred *cred, umode_t mode)
{
	struct path path = { .mnt = wsb->lower_mnt };
	const struct cred *old_cred;
	struct wsfs_turn turn;
	struct file *file;
	int tries;

	wsfs_turn_begin(wsb, wsfs_birth_set(birth), &turn);
	for (tries = 0; tries < WSFS_BIRTH_TRIES; tries++) {
		path.dentry = wsfs_birth_agdir(birth, wsb, lower_dir, &turn);
		if (!path.dentry)
			return;
		old_cred = override_creds(cred);
		file = kernel_tmpfile_open(mnt_idmap(path.mnt), &path, mode,
					   O_RDWR | O_LARGEFILE | O_NOATIME,
					   cred);
		revert_creds(old_cred);
		dput(path.dentry);
		if (IS_ERR(file)) {
			birth->agno = WSFS_GEO_NONE;
			return;
		}
		if (wsfs_geo_ino_to_agno(&turn.geo, file_inode(file)->i_ino) ==
		    birth->agno) {
			birth->file = file;
			return;
		}
		/* No room for an inode in this one */
		__fput_sync(file);
	}
	birth->agno = WSFS_GEO_NONE;
}

/**
 * wsfs_birth_begin() - before a file is made in a directory
 * @birth: filled in
 * @idmap: idmap of the wsfs mount
 * @dir: the directory, its i_rwsem held
 * @dentry: where the file is to be
 * @mode: of the file
 *
 * Makes the file, without a name, where that can be done. Never fails: what is
 * not done here is left to XFS.
 */
void wsfs_birth_begin(struct wsfs_birth *birth, struct mnt_idmap *idmap,
		      struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct dentry *lower_dir = wsfs_lower_dentry(dentry->d_parent);
	struct wsfs_sb *wsb = WSFS_SB(dir->i_sb);
	const struct cred *old_cred;
	struct cred *cred;

	if (likely(!wsfs_birth_wanted(birth, dir)))
		return;
	wsfs_pool_refresh_due(wsb);
	cred = wsfs_birth_cred(wsb, idmap, lower_dir, dentry, mode);
	if (IS_ERR(cred))
		return;
	if (!mnt_want_write(wsb->lower_mnt)) {
		old_cred = override_creds(wsb->cred);
		if (wsfs_birth_is_plain(wsb, lower_dir, mode))
			wsfs_birth_make(birth, wsb, lower_dir, cred, mode);
		revert_creds(old_cred);
		mnt_drop_write(wsb->lower_mnt);
	}
	put_cred(cred);
}

/**
 * wsfs_birth_link() - give the file that was made its name
 * @birth: from wsfs_birth_begin(), with a file
 * @lower: dentry of the lower, negative; its directory is locked
 *
 * Return: 0, or what the lower says; then the file counts as never made.
 */
int wsfs_birth_link(struct wsfs_birth *birth, struct dentry *lower)
{
	struct dentry *made = birth->file->f_path.dentry;
	const struct cred *old_cred = override_creds(birth->file->f_cred);
	int err;

	err = vfs_link(made, mnt_idmap(birth->file->f_path.mnt),
		       d_inode(lower->d_parent), lower, NULL);
	revert_creds(old_cred);
	if (err)
		birth->agno = WSFS_GEO_NONE;
	return err;
}

/**
 * wsfs_birth_tmpfile() - the directory to make an O_TMPFILE file in
 * @birth: filled in
 * @idmap: idmap of the wsfs mount
 * @dir: the wsfs directory
 * @dentry: where the file is to be
 * @mode: of the file
 * @agdir: returns the lower directory, referenced; NULL for that of @dir
 *
 * The caller has write access to the lower.
 *
 * Return: the credentials to make it with; NULL or an ERR_PTR without @agdir.
 */
struct cred *wsfs_birth_tmpfile(struct wsfs_birth *birth,
				struct mnt_idmap *idmap, struct inode *dir,
				struct dentry *dentry, umode_t mode,
				struct dentry **agdir)
{
	struct dentry *lower_dir = wsfs_lower_dentry(dentry->d_parent);
	struct wsfs_sb *wsb = WSFS_SB(dir->i_sb);
	const struct cred *old_cred;
	struct wsfs_turn turn;
	struct cred *cred;

	*agdir = NULL;
	if (likely(!wsfs_birth_wanted(birth, dir)))
		return NULL;
	wsfs_pool_refresh_due(wsb);
	cred = wsfs_birth_cred(wsb, idmap, lower_dir, dentry, mode);
	if (IS_ERR(cred))
		return cred;
	old_cred = override_creds(wsb->cred);
	if (wsfs_birth_is_plain(wsb, lower_dir, mode)) {
		wsfs_turn_begin(wsb, wsfs_birth_set(birth), &turn);
		*agdir = wsfs_birth_agdir(birth, wsb, lower_dir, &turn);
	}
	revert_creds(old_cred);
	if (*agdir)
		return cred;
	put_cred(cred);
	return NULL;
}

/**
 * wsfs_birth_end() - the file is there
 * @birth: from wsfs_birth_begin() or wsfs_birth_tmpfile()
 * @dentry: its dentry
 * @parent: its parent, i_rwsem held; NULL for O_TMPFILE
 * @err: it is not, because of this
 */
void wsfs_birth_end(struct wsfs_birth *birth, struct dentry *dentry,
		    struct dentry *parent, int err)
{
	/* Now, not later: SET looks at who has the lower file open. */
	if (birth->file)
		__fput_sync(birth->file);
	if (likely(birth->how == WSFS_DIR_NEAR) || err)
		return;
	if (birth->how == WSFS_DIR_STREAM)
		wsfs_steer_born(dentry, parent, birth->ref, birth->agno);
	else
		wsfs_steer_spread(dentry, parent, wsfs_birth_set(birth),
				  birth->agno);
}
