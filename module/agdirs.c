// SPDX-License-Identifier: GPL-2.0
/*
 * The hidden directory .wsfs in the root of the lower: one directory an AG.
 *
 * XFS allocates an inode in the AG of the directory it is made in, and spreads
 * directories over the AGs. So a file is made in the AG's directory to be in
 * that AG: one that takes the place of another (home.c), is born (birth.c) or
 * gives a block (anchor.c). None stays there but by a crash, and then it is
 * swept by the next mount.
 */

#include <linux/fs.h>
#include <linux/ctype.h>
#include <linux/fileattr.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/posix_acl.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include "../uapi/linux/wsfs.h"
#include "wsfs.h"

#define WSFS_DIR	".wsfs"
/* A directory in it, until it is known which AG it is in */
#define WSFS_NEW_DIR	"new"
/* Says that .wsfs is ours and not somebody's data. */
#define WSFS_DIR_XATTR	"trusted.wsfs"

/* After an AG turned out to have no room for a directory */
#define WSFS_RETRY_INTERVAL	(30 * HZ)
/* After one turned out to have no block; to ask costs a few writes. */
#define WSFS_FULL_INTERVAL	(5 * HZ)

/**
 * struct wsfs_home_ag - what is known of an AG
 * @dir: its directory, or NULL
 * @full_until: no block was to be had there; time to ask again, in jiffies
 * @full: @full_until counts
 */
struct wsfs_home_ag {
	struct dentry	*dir;
	unsigned long	full_until;
	bool		full;
};

/**
 * struct wsfs_home - the directories
 * @lock: protects all of this
 * @dir: .wsfs, or NULL until it is needed
 * @ag: each AG
 * @nr: entries of @ag
 * @retry: no directory is made before this time, in jiffies
 * @seq: makes names
 */
struct wsfs_home {
	struct mutex	lock;	/* inside wsfs_inode.lock */
	struct dentry	*dir;
	struct wsfs_home_ag *ag;
	u32		nr;
	unsigned long	retry;
	atomic64_t	seq;
};

struct wsfs_name {
	struct list_head	list;
	u32			len;
	char			name[];
};

struct wsfs_names_context {
	struct dir_context	ctx;
	struct list_head	names;
	int			err;
};

static bool wsfs_names_actor(struct dir_context *ctx, const char *name,
			     int len, loff_t pos, u64 ino, unsigned int type)
{
	struct wsfs_names_context *nc =
		container_of(ctx, struct wsfs_names_context, ctx);
	struct wsfs_name *entry;

	if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
		return true;
	entry = kmalloc(struct_size(entry, name, len + 1), GFP_KERNEL);
	if (!entry) {
		nc->err = -ENOMEM;
		return false;
	}
	entry->len = len;
	memcpy(entry->name, name, len);
	entry->name[len] = 0;
	list_add_tail(&entry->list, &nc->names);
	return true;
}

static void wsfs_free_names(struct list_head *names)
{
	struct wsfs_name *entry, *next;

	list_for_each_entry_safe(entry, next, names, list)
		kfree(entry);
	INIT_LIST_HEAD(names);
}

static int wsfs_list_dir(struct wsfs_sb *wsb, struct dentry *dir,
			 struct wsfs_names_context *nc)
{
	struct path path = { .mnt = wsb->lower_mnt, .dentry = dir };
	struct file *file;
	int err;

	INIT_LIST_HEAD(&nc->names);
	nc->err = 0;
	file = dentry_open(&path, O_RDONLY | O_DIRECTORY | O_NOATIME,
			   wsb->cred);
	if (IS_ERR(file))
		return PTR_ERR(file);
	wsfs_dir_context_init(&nc->ctx, wsfs_names_actor);
	err = iterate_dir(file, &nc->ctx) ?: nc->err;
	fput(file);
	if (err)
		wsfs_free_names(&nc->names);
	return err;
}

static u32 wsfs_dentry_agno(struct wsfs_sb *wsb, const struct dentry *lower)
{
	return wsfs_geo_ino_to_agno(&wsb->geo, d_inode(lower)->i_ino);
}

/**
 * wsfs_home_remove() - take the name of something off again
 * @wsb: the superblock
 * @dir: lower directory
 * @dentry: lower dentry in it, which the caller holds
 *
 * Return: 0 or what the lower says.
 */
int wsfs_home_remove(struct wsfs_sb *wsb, struct dentry *dir,
		     struct dentry *dentry)
{
	struct dentry *victim = start_removing_dentry(dir, dentry);
	int err;

	if (IS_ERR(victim))
		return PTR_ERR(victim);
	err = wsfs_remove_locked(wsb->lower_mnt, victim);
	end_removing(victim);
	return err;
}

static bool wsfs_is_number(const char *name)
{
	for (; *name; name++)
		if (!isxdigit(*name))
			return false;
	return true;
}

/*
 * An empty file with a name of ours can only be what a crash has left, as can a
 * directory that did not get the name of its AG yet.
 */
static bool wsfs_is_stray(const struct dentry *dentry, const char *name)
{
	if (d_is_dir(dentry))
		return strstarts(name, WSFS_NEW_DIR) &&
		       wsfs_is_number(name + strlen(WSFS_NEW_DIR));
	return d_is_reg(dentry) && wsfs_is_number(name) &&
	       !i_size_read(d_inode(dentry));
}

/* Sweeps @dir; @depth levels of directories below it are ours. */
static void wsfs_sweep(struct wsfs_sb *wsb, struct dentry *dir, int depth)
{
	struct wsfs_names_context nc;
	struct wsfs_name *entry;
	int err = wsfs_list_dir(wsb, dir, &nc);

	if (err) {
		pr_warn("wsfs: %pd2 cannot be read (%d), and is not swept\n",
			dir, err);
		return;
	}
	list_for_each_entry(entry, &nc.names, list) {
		struct dentry *dentry;

		dentry = lookup_noperm_unlocked(&QSTR_LEN(entry->name,
							  entry->len), dir);
		if (IS_ERR(dentry)) {
			pr_warn("wsfs: %s in %pd2 is damaged (%ld), and stays\n",
				entry->name, dir, PTR_ERR(dentry));
			continue;
		}
		if (depth && d_is_dir(dentry))
			wsfs_sweep(wsb, dentry, depth - 1);
		if (d_is_negative(dentry) ||
		    (depth && d_is_dir(dentry) &&
		     !wsfs_is_stray(dentry, entry->name)))
			err = 0;
		else if (wsfs_is_stray(dentry, entry->name))
			err = wsfs_home_remove(wsb, dir, dentry);
		else
			err = -EEXIST;
		if (err)
			pr_warn("wsfs: %pd2 is not wsfs's or cannot be removed (%d), and stays\n",
				dentry, err);
		dput(dentry);
	}
	wsfs_free_names(&nc.names);
}

static bool wsfs_dir_is_ours(struct wsfs_sb *wsb, struct dentry *dir)
{
	struct wsfs_names_context nc;
	bool empty;
	char value;

	if (!d_is_dir(dir))
		return false;
	if (vfs_getxattr(mnt_idmap(wsb->lower_mnt), dir, WSFS_DIR_XATTR,
			 &value, sizeof(value)) > 0)
		return true;
	/* A crash between making and marking it leaves an empty one. */
	if (!uid_eq(d_inode(dir)->i_uid, GLOBAL_ROOT_UID) ||
	    wsfs_list_dir(wsb, dir, &nc))
		return false;
	empty = list_empty(&nc.names);
	wsfs_free_names(&nc.names);
	return empty;
}

/* Takes off what .wsfs has inherited from the root, and marks it. */
static int wsfs_dress_dir(struct wsfs_sb *wsb, struct dentry *dir)
{
	struct mnt_idmap *idmap = mnt_idmap(wsb->lower_mnt);
	struct iattr attr = {
		.ia_valid = ATTR_MODE,
		.ia_mode = S_IFDIR | 0700,
	};
	struct file_kattr fa;
	int err;

	err = vfs_remove_acl(idmap, dir, XATTR_NAME_POSIX_ACL_DEFAULT);
	if (err && err != -ENODATA && err != -EOPNOTSUPP)
		return err;
	err = vfs_remove_acl(idmap, dir, XATTR_NAME_POSIX_ACL_ACCESS);
	if (err && err != -ENODATA && err != -EOPNOTSUPP)
		return err;
	inode_lock(d_inode(dir));
	err = notify_change(idmap, dir, &attr, NULL);
	inode_unlock(d_inode(dir));
	if (err)
		return err;
	/* No project, no extent size, no realtime for what is made in it. */
	fileattr_fill_xflags(&fa, 0);
	err = vfs_fileattr_set(idmap, dir, &fa);
	if (err)
		return err;
	return vfs_setxattr(idmap, dir, WSFS_DIR_XATTR, "1", 1, 0);
}

static struct dentry *wsfs_mkdir_lower(struct wsfs_sb *wsb,
				       struct dentry *parent,
				       const char *name)
{
	struct dentry *dir = start_creating_noperm(parent, &QSTR_LEN(name, strlen(name)));

	if (IS_ERR(dir))
		return dir;
	dir = vfs_mkdir(mnt_idmap(wsb->lower_mnt), d_inode(parent), dir, 0700,
			NULL);
	return end_creating_keep(dir);
}

/* Under home->lock, with the mounter's credentials and write access */
static int wsfs_make_dir(struct wsfs_sb *wsb)
{
	struct dentry *root = wsb->lower_mnt->mnt_root;
	struct dentry *dir = wsfs_mkdir_lower(wsb, root, WSFS_DIR);
	int err;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	err = wsfs_dress_dir(wsb, dir);
	if (err) {
		wsfs_home_remove(wsb, root, dir);
		dput(dir);
		return err;
	}
	WRITE_ONCE(wsb->home->dir, dir);
	return 0;
}

static int wsfs_resize_home(struct wsfs_home *home, u32 nr)
{
	struct wsfs_home_ag *ag;

	if (nr <= home->nr)
		return 0;
	ag = kvcalloc(nr, sizeof(*ag), GFP_KERNEL);
	if (!ag)
		return -ENOMEM;
	if (home->nr)
		memcpy(ag, home->ag, home->nr * sizeof(*ag));
	kvfree(home->ag);
	home->ag = ag;
	home->nr = nr;
	return 0;
}

static void wsfs_agdir_name(char *buf, size_t size, u32 agno)
{
	snprintf(buf, size, "ag%u", agno);
}

/* Takes over the reference to @dir. Returns false when it is not wanted. */
static bool wsfs_adopt_agdir(struct wsfs_sb *wsb, struct dentry *dir, u32 agno)
{
	struct wsfs_home *home = wsb->home;

	if (IS_ERR(dir))
		return false;
	if (!d_is_dir(dir) || agno >= home->nr || home->ag[agno].dir ||
	    wsfs_dentry_agno(wsb, dir) != agno) {
		dput(dir);
		return false;
	}
	home->ag[agno].dir = dir;
	return true;
}

/*
 * Makes one more directory, wherever XFS puts it, and names it after its AG;
 * one too many is removed.
 */
static int wsfs_make_agdir(struct wsfs_sb *wsb)
{
	struct wsfs_home *home = wsb->home;
	struct renamedata rd = {
		.mnt_idmap	= mnt_idmap(wsb->lower_mnt),
		.new_parent	= home->dir,
		.flags		= RENAME_NOREPLACE,
	};
	struct dentry *dir;
	char name[24];
	u32 agno;
	int err;

	snprintf(name, sizeof(name), WSFS_NEW_DIR "%llx",
		 (u64)atomic64_inc_return(&home->seq));
	dir = wsfs_mkdir_lower(wsb, home->dir, name);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	agno = wsfs_dentry_agno(wsb, dir);
	if (agno >= home->nr || home->ag[agno].dir)
		goto out_remove;

	wsfs_agdir_name(name, sizeof(name), agno);
	rd.old_parent = home->dir;
	err = start_renaming_dentry(&rd, 0, dir, &QSTR_LEN(name, strlen(name)));
	if (err)
		goto out_remove;
	err = vfs_rename(&rd);
	end_renaming(&rd);
	if (err)
		goto out_remove;
	wsfs_adopt_agdir(wsb, dir, agno);
	return 0;

out_remove:
	err = wsfs_home_remove(wsb, home->dir, dir);
	dput(dir);
	return err;
}

/* Under home->lock: somebody has removed them below. */
static void wsfs_forget_dirs(struct wsfs_home *home)
{
	struct dentry *dir = home->dir;
	u32 i;

	WRITE_ONCE(home->dir, NULL);
	dput(dir);
	for (i = 0; i < home->nr; i++) {
		dput(home->ag[i].dir);
		home->ag[i].dir = NULL;
	}
	home->retry = jiffies;
}

/**
 * wsfs_home_agdir() - the directory in an AG
 * @wsb: the superblock
 * @agno: the AG
 *
 * XFS takes the next AG for each directory, so about as many as there are AGs
 * give one in each. The caller has the mounter's credentials, and write access
 * to the lower.
 *
 * Return: the directory, referenced, or NULL where none can be had.
 */
struct dentry *wsfs_home_agdir(struct wsfs_sb *wsb, u32 agno)
{
	struct wsfs_home *home = wsb->home;
	struct dentry *dir = NULL;
	char name[24];
	u32 tries;

	mutex_lock(&home->lock);
	if (home->dir && d_unhashed(home->dir))
		wsfs_forget_dirs(home);
	if (!home->dir && wsfs_make_dir(wsb))
		goto out;
	if (wsfs_resize_home(home, agno + 1))
		goto out;
	if (home->ag[agno].dir && d_unhashed(home->ag[agno].dir)) {
		/* Somebody has removed it below. */
		dput(home->ag[agno].dir);
		home->ag[agno].dir = NULL;
	}
	if (!home->ag[agno].dir) {
		wsfs_agdir_name(name, sizeof(name), agno);
		dir = lookup_noperm_unlocked(&QSTR_LEN(name, strlen(name)), home->dir);
		wsfs_adopt_agdir(wsb, dir, agno);
	}
	if (!home->ag[agno].dir && time_after_eq(jiffies, home->retry)) {
		wsfs_resize_home(home, wsb->geo.agcount);
		for (tries = 2 * wsb->geo.agcount; tries; tries--)
			if (wsfs_make_agdir(wsb) || home->ag[agno].dir ||
			    fatal_signal_pending(current))
				break;
		if (!home->ag[agno].dir)
			home->retry = jiffies + WSFS_RETRY_INTERVAL;
	}
	dir = home->ag[agno].dir;
	if (dir)
		dget(dir);
out:
	mutex_unlock(&home->lock);
	return IS_ERR(dir) ? NULL : dir;
}

/**
 * wsfs_home_note_full() - an AG has no block to give
 * @wsb: the superblock
 * @agno: the AG
 */
void wsfs_home_note_full(struct wsfs_sb *wsb, u32 agno)
{
	struct wsfs_home *home = wsb->home;

	mutex_lock(&home->lock);
	if (!wsfs_resize_home(home, agno + 1)) {
		home->ag[agno].full_until = jiffies + WSFS_FULL_INTERVAL;
		home->ag[agno].full = true;
	}
	mutex_unlock(&home->lock);
}

/**
 * wsfs_home_is_full() - was that so a moment ago
 * @wsb: the superblock
 * @agno: the AG
 *
 * Return: true if it is not worth while to ask again.
 */
bool wsfs_home_is_full(struct wsfs_sb *wsb, u32 agno)
{
	struct wsfs_home *home = wsb->home;
	struct wsfs_home_ag *ag;
	bool full = false;

	mutex_lock(&home->lock);
	if (agno < home->nr) {
		ag = &home->ag[agno];
		if (ag->full && time_after(jiffies, ag->full_until))
			ag->full = false;
		full = ag->full;
	}
	mutex_unlock(&home->lock);
	return full;
}

/**
 * wsfs_home_sweep() - remove what a crash has left
 * @wsb: a superblock that becomes writable, after wsfs_home_init()
 *
 * What cannot be removed stays and is told: it is in nobody's way.
 */
void wsfs_home_sweep(struct wsfs_sb *wsb)
{
	struct wsfs_home *home = wsb->home;
	const struct cred *old_cred;
	int err;

	if (!home || !home->dir || mnt_want_write(wsb->lower_mnt))
		return;
	old_cred = override_creds(wsb->cred);
	err = wsfs_dress_dir(wsb, home->dir);
	if (err)
		pr_warn("wsfs: %pd2 cannot be set up (%d)\n", home->dir, err);
	wsfs_sweep(wsb, home->dir, 1);
	revert_creds(old_cred);
	mnt_drop_write(wsb->lower_mnt);
}

/**
 * wsfs_home_init() - take up the directories of an earlier mount
 * @sb: a wsfs superblock that is being filled, after wsfs_pool_init()
 * @fc: takes the message when it fails
 *
 * Sweeps what a crash has left there. Nothing is made before it is needed.
 *
 * Return: 0; EEXIST when .wsfs is somebody else's; or what the lower says.
 */
int wsfs_home_init(struct super_block *sb, struct fs_context *fc)
{
	struct wsfs_sb *wsb = WSFS_SB(sb);
	struct vfsmount *mnt = wsb->lower_mnt;
	struct wsfs_home *home;
	struct dentry *dir;
	int err = 0;

	if (!wsb->geo.agblocks ||
	    (!ws_pool_nr(wsb->pool) && wsb->spread == WSFS_DIR_NEAR))
		return 0;
	dir = lookup_noperm_unlocked(&QSTR_LEN(WSFS_DIR, strlen(WSFS_DIR)), mnt->mnt_root);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	if (d_is_positive(dir) && !wsfs_dir_is_ours(wsb, dir)) {
		errorf(fc, "%s: %s in the root of the XFS is not wsfs's; rename it",
		       fc->source, WSFS_DIR);
		err = -EEXIST;
		goto out_dput;
	}
	home = kzalloc_obj(*home);
	if (!home) {
		err = -ENOMEM;
		goto out_dput;
	}
	mutex_init(&home->lock);
	/* Names of this mount do not meet those of an earlier one. */
	atomic64_set(&home->seq, ktime_get_real_ns());
	home->retry = jiffies;
	wsb->home = home;
	if (d_is_negative(dir))
		goto out_dput;
	home->dir = dir;
	if (!sb_rdonly(sb))
		wsfs_home_sweep(wsb);
	return 0;

out_dput:
	dput(dir);
	return err;
}

/**
 * wsfs_home_exit() - let the directories go
 * @wsb: the superblock; nothing is steered any more
 */
void wsfs_home_exit(struct wsfs_sb *wsb)
{
	struct wsfs_home *home = wsb->home;
	u32 i;

	if (!home)
		return;
	for (i = 0; i < home->nr; i++)
		dput(home->ag[i].dir);
	kvfree(home->ag);
	dput(home->dir);
	kfree(home);
	wsb->home = NULL;
}

/**
 * wsfs_home_exists() - is there a .wsfs
 * @sb: the wsfs superblock
 *
 * Return: true if there is, as far as this mount has needed to know.
 */
bool wsfs_home_exists(const struct super_block *sb)
{
	const struct wsfs_home *home = WSFS_SB(sb)->home;

	return home && READ_ONCE(home->dir);
}

/**
 * wsfs_home_statfs() - size of the data device
 * @wsb: the superblock
 * @st: where to
 *
 * Asked of .wsfs where there is one: in the root a project quota or the
 * realtime volume may answer.
 *
 * Return: 0; EOPNOTSUPP where the realtime volume would answer; or what the
 * lower says.
 */
int wsfs_home_statfs(struct wsfs_sb *wsb, struct kstatfs *st)
{
	struct wsfs_home *home = wsb->home;
	struct path path = {
		.mnt = wsb->lower_mnt,
		.dentry = dget(wsb->lower_mnt->mnt_root),
	};
	struct file_kattr fa = {};
	int err;

	if (home) {
		mutex_lock(&home->lock);
		if (home->dir) {
			dput(path.dentry);
			path.dentry = dget(home->dir);
		}
		mutex_unlock(&home->lock);
	}
	/* XFS answers for the realtime volume where files inherit that. */
	err = vfs_fileattr_get(path.dentry, &fa);
	if (!err && (fa.fsx_xflags & FS_XFLAG_RTINHERIT))
		err = -EOPNOTSUPP;
	if (!err)
		err = vfs_statfs(&path, st);
	dput(path.dentry);
	return err;
}

/**
 * wsfs_home_make() - a new file in an AG
 * @wsb: the superblock
 * @agdir: from wsfs_home_agdir()
 * @agno: the AG
 *
 * The caller has the mounter's credentials, and write access to the lower.
 *
 * Return: its dentry; ENOSPC where XFS has put it elsewhere, and then it is
 * gone again; or what the lower says.
 */
struct dentry *wsfs_home_make(struct wsfs_sb *wsb, struct dentry *agdir,
			      u32 agno)
{
	struct dentry *new;
	char name[24];
	int err;

	snprintf(name, sizeof(name), "%llx",
		 (u64)atomic64_inc_return(&wsb->home->seq));
	new = start_creating_noperm(agdir, &QSTR_LEN(name, strlen(name)));
	if (IS_ERR(new))
		return new;
	err = vfs_create(mnt_idmap(wsb->lower_mnt), new, S_IFREG | 0600, NULL);
	if (err) {
		end_creating(new);
		return ERR_PTR(err);
	}
	new = end_creating_keep(new);
	if (wsfs_dentry_agno(wsb, new) != agno) {
		wsfs_home_remove(wsb, agdir, new);
		dput(new);
		return ERR_PTR(-ENOSPC);
	}
	return new;
}
