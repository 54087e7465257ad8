// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing an empty file home: how XFS is persuaded to put a file into an AG.
 *
 * XFS allocates an inode in the AG of the directory it is made in, and the
 * file's first extent in the AG of the inode. It spreads directories over the
 * AGs. So wsfs keeps one directory an AG below .wsfs/ in the root of the
 * lower. To move an empty file to AG k, a new file is made in k's directory,
 * given everything but the data the old one had, and renamed over it.
 *
 * A crash leaves the old or the new file under the name, both empty, and
 * perhaps the new one in k's directory, from where the next mount sweeps it.
 */

#include <linux/fs.h>
#include <linux/delay.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include <linux/posix_acl.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include "../uapi/linux/wsfs.h"
#include "wsfs.h"

#define WSFS_DIR	".wsfs"
/* Says that .wsfs is ours and not somebody's data. */
#define WSFS_DIR_XATTR	"trusted.wsfs"

/* After an AG turned out to have no room for a directory */
#define WSFS_RETRY_INTERVAL	(30 * HZ)
/* After one turned out to have no block; to ask costs a few writes. */
#define WSFS_FULL_INTERVAL	(5 * HZ)

/*
 * Taken off i_writecount of a lower inode that is replaced, so that nobody can
 * open it for writing any more who found its name just before: what he wrote
 * would be lost. get_write_access() says ETXTBSY to him.
 */
#define WSFS_DENY_WRITE	(INT_MAX / 2)

/* How often to look again whether the lower file is in use elsewhere */
#define WSFS_USED_TRIES	5

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
	entry = kmalloc(struct_size(entry, name, len), GFP_KERNEL);
	if (!entry) {
		nc->err = -ENOMEM;
		return false;
	}
	entry->len = len;
	memcpy(entry->name, name, len);
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

/* Removes @dentry, which the caller holds, from its directory. */
static int wsfs_remove_lower(struct wsfs_sb *wsb, struct dentry *dir,
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

/* An empty regular file can only be what a crash has left. */
static bool wsfs_is_stray(struct wsfs_sb *wsb, struct dentry *dentry)
{
	struct path path = { .mnt = wsb->lower_mnt, .dentry = dentry };
	struct kstat stat;

	return d_is_reg(dentry) &&
	       !vfs_getattr_nosec(&path, &stat, STATX_SIZE | STATX_BLOCKS,
				  AT_STATX_SYNC_AS_STAT) &&
	       !stat.size && !stat.blocks;
}

/* Sweeps @dir; @depth levels of directories below it are ours. */
static int wsfs_sweep(struct wsfs_sb *wsb, struct dentry *dir, int depth)
{
	struct wsfs_names_context nc;
	struct wsfs_name *entry;
	int err = wsfs_list_dir(wsb, dir, &nc);

	if (err)
		return err;
	list_for_each_entry(entry, &nc.names, list) {
		struct dentry *dentry;

		dentry = lookup_noperm_unlocked(&QSTR_LEN(entry->name,
							  entry->len), dir);
		if (IS_ERR(dentry)) {
			err = PTR_ERR(dentry);
			break;
		}
		if (depth && d_is_dir(dentry))
			err = wsfs_sweep(wsb, dentry, depth - 1);
		else if (d_is_positive(dentry) && wsfs_is_stray(wsb, dentry))
			err = wsfs_remove_lower(wsb, dir, dentry);
		else if (d_is_positive(dentry))
			pr_warn("wsfs: %pd2 is not wsfs's and stays\n",
				dentry);
		dput(dentry);
		if (err)
			break;
	}
	wsfs_free_names(&nc.names);
	return err;
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
		wsfs_remove_lower(wsb, root, dir);
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

	snprintf(name, sizeof(name), "new%llx",
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
	err = wsfs_remove_lower(wsb, home->dir, dir);
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
			if (wsfs_make_agdir(wsb) || home->ag[agno].dir)
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
 * wsfs_home_init() - take up the directories of an earlier mount
 * @sb: a wsfs superblock that is being filled, after wsfs_steer_init()
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
	if (sb_rdonly(sb))
		return 0;

	err = mnt_want_write(mnt);
	if (!err) {
		err = wsfs_dress_dir(wsb, dir) ?: wsfs_sweep(wsb, dir, 1);
		mnt_drop_write(mnt);
	}
	if (err)
		errorf(fc, "%s: %s cannot be swept (%d)", fc->source, WSFS_DIR,
		       err);
	return err;

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
 * Return: 0 or what the lower says.
 */
int wsfs_home_statfs(struct wsfs_sb *wsb, struct kstatfs *st)
{
	struct wsfs_home *home = wsb->home;
	struct path path = {
		.mnt = wsb->lower_mnt,
		.dentry = dget(wsb->lower_mnt->mnt_root),
	};
	int err;

	if (home) {
		mutex_lock(&home->lock);
		if (home->dir) {
			dput(path.dentry);
			path.dentry = dget(home->dir);
		}
		mutex_unlock(&home->lock);
	}
	err = vfs_statfs(&path, st);
	dput(path.dentry);
	return err;
}

/* A new file in @agdir; in the right AG or not at all. */
static struct dentry *wsfs_make_home(struct wsfs_sb *wsb,
				     struct dentry *agdir, u32 agno)
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
		wsfs_remove_lower(wsb, agdir, new);
		dput(new);
		return ERR_PTR(-ENOSPC);
	}
	return new;
}

/*
 * Does anybody but our open files use the lower file? Its dentry is held by
 * each of those, by each of our dentries for it and by start_renaming_*(), its
 * inode by its dentry and by ours.
 */
static bool wsfs_used_elsewhere(struct inode *inode, struct dentry *lower)
{
	struct inode *lower_inode = d_inode(lower);
	unsigned int holders = 1;
	struct wsfs_file *wf;
	struct dentry *alias;

	list_for_each_entry(wf, &WSFS_I(inode)->files, node)
		holders += file_inode(wf->lower) == lower_inode;
	spin_lock(&inode->i_lock);
	for_each_alias(alias, inode)
		holders += wsfs_lower_dentry(alias) == lower;
	spin_unlock(&inode->i_lock);
	return d_count(lower) != holders || icount_read_once(lower_inode) != 2;
}

static int wsfs_lower_writers(struct inode *inode)
{
	struct inode *lower = wsfs_lower_inode(inode);
	struct wsfs_file *wf;
	int writers = 0;

	list_for_each_entry(wf, &WSFS_I(inode)->files, node)
		writers += file_inode(wf->lower) == lower &&
			   (wf->lower->f_mode & FMODE_WRITER);
	return writers;
}

/* Our dentries of @inode stand for @new from now on. */
static void wsfs_replace_lower_dentry(struct inode *inode, struct dentry *old,
				      struct dentry *new)
{
	struct dentry *alias;
	bool found;

	do {
		found = false;
		spin_lock(&inode->i_lock);
		for_each_alias(alias, inode) {
			if (wsfs_lower_dentry(alias) != old)
				continue;
			WRITE_ONCE(alias->d_fsdata, dget(new));
			found = true;
			break;
		}
		spin_unlock(&inode->i_lock);
		/* Walks under RCU that see the old one do not touch memory
		 * that is freed before they end.
		 */
		if (found)
			dput(old);
	} while (found);
}

/* Why a file was not moved: its AG has no room */
static const char wsfs_no_inode[] = "no inode";

/*
 * The exchange itself, with both lower directories locked. From the moment that
 * WSFS_MOVING is set no write through wsfs starts. On the lower nobody finds the
 * old file any more once its dentry is unhashed: a walk has to wait for the lock
 * of the directory. So what it is can be carried over once those who had found
 * it before are gone. From the change of i_writecount on, who comes by a file
 * handle cannot open it for writing either.
 */
static const char *wsfs_exchange(struct inode *inode, struct inode *parent,
				 struct renamedata *rd)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct dentry *old = rd->new_dentry, *new = rd->old_dentry;
	struct path path = { .mnt = wsb->lower_mnt, .dentry = old };
	struct inode *old_inode = wi->lower;
	const char *why = NULL;
	int writers, tries;
	struct kstat stat;

	if (cmpxchg(&wi->state, 0, BIT(WSFS_MOVING)) != 0)
		return "written";
	wsfs_change_begin(parent);
	writers = wsfs_lower_writers(inode);
	d_drop(old);
	if (d_inode(old) != old_inode)
		why = "changed below";
	/* A stat() or a path walk passes in a moment. */
	for (tries = 0; !why && wsfs_used_elsewhere(inode, old); tries++) {
		if (tries == WSFS_USED_TRIES)
			why = "open below";
		usleep_range(20, 100);
	}
	if (why)
		goto out_rehash;
	why = "data";
	if (vfs_getattr_nosec(&path, &stat, STATX_BASIC_STATS,
			      AT_STATX_SYNC_AS_STAT) ||
	    stat.size || stat.blocks || mapping_mapped(old_inode->i_mapping))
		goto out_rehash;
	why = "links";
	if (stat.nlink != 1)
		goto out_rehash;
	why = wsfs_no_inode;
	if (wsfs_carry(wsb, new, old, &stat))
		goto out_rehash;
	why = "open below";
	if (atomic_cmpxchg(&old_inode->i_writecount, writers,
			   writers - WSFS_DENY_WRITE) != writers)
		goto out_rehash;
	why = "rename";
	if (vfs_rename(rd))
		goto out_allow_write;

	/* vfs_rename() has moved @new to the name of @old. */
	wsfs_inode_rehash(inode, d_inode(new));
	wsfs_replace_lower_dentry(inode, old, new);
	iput(old_inode);
	wi->moves++;
	why = NULL;
	goto out_end;

out_allow_write:
	atomic_add(WSFS_DENY_WRITE, &old_inode->i_writecount);
out_rehash:
	d_rehash(old);
out_end:
	wsfs_change_end(parent);
	clear_bit_unlock(WSFS_MOVING, &wi->state);
	/* Order the store before the look at the queue. */
	smp_mb__after_atomic();
	wake_up_bit(&wi->state, WSFS_MOVING);
	return why;
}

static const char *wsfs_move_to(struct dentry *dentry, struct dentry *parent,
				struct dentry *agdir, u32 agno)
{
	struct wsfs_sb *wsb = WSFS_SB(dentry->d_sb);
	struct dentry *old = wsfs_lower_dentry(dentry);
	struct renamedata rd = {
		.mnt_idmap	= mnt_idmap(wsb->lower_mnt),
		.old_parent	= agdir,
		.new_parent	= wsfs_lower_dentry(parent),
	};
	const char *why;
	struct dentry *new;

	new = wsfs_make_home(wsb, agdir, agno);
	if (IS_ERR(new))
		return wsfs_no_inode;
	why = "changed below";
	if (!start_renaming_two_dentries(&rd, new, old)) {
		why = wsfs_exchange(d_inode(dentry), d_inode(parent), &rd);
		end_renaming(&rd);
	}
	if (why)
		wsfs_remove_lower(wsb, agdir, new);
	dput(new);
	return why;
}

/* What shows without effort that a file cannot be moved */
static const char *wsfs_may_move(struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct path path = {
		.mnt = wsfs_lower_mnt(dentry->d_sb),
		.dentry = wsfs_lower_dentry(dentry),
	};
	struct kstat stat;

	if (test_bit(WSFS_PINNED, &wi->state))
		return "written";
	if (wi->moves >= WSFS_MAX_MOVES)
		return "moved too often";
	if (IS_APPEND(inode) || IS_SWAPFILE(wi->lower))
		return "append-only";
	if (mapping_mapped(wi->lower->i_mapping))
		return "mapped";
	if (d_unhashed(dentry) || wi->lower->i_nlink == 0)
		return "unlinked";
	if (wi->lower->i_nlink != 1)
		return "links";
	if (vfs_getattr_nosec(&path, &stat, STATX_SIZE | STATX_BLOCKS,
			      AT_STATX_SYNC_AS_STAT) ||
	    stat.size || stat.blocks)
		return "data";
	return NULL;
}

/**
 * wsfs_home_place() - put a file into an AG of its stream's set
 * @dentry: dentry of a regular wsfs file
 * @parent: its parent
 * @id: the stream, or WSFS_SET_*
 * @agno: returns the AG chosen, %WSFS_GEO_NONE for none
 *
 * The files of a stream take turns. An AG without a directory of ours, because
 * it is full or XFS is mounted with inode32, is passed over.
 *
 * The caller holds the i_rwsem of @parent, that of the file, and
 * wsfs_inode.lock, and has write access to the wsfs mount.
 *
 * Return: NULL when the file's inode is in *@agno, else why not, for the
 * trace; the file is as it was then.
 */
const char *wsfs_home_place(struct dentry *dentry, struct dentry *parent,
			    u32 id, u32 *agno)
{
	struct wsfs_sb *wsb = WSFS_SB(dentry->d_sb);
	struct wsfs_inode *wi = WSFS_I(d_inode(dentry));
	const struct cred *old_cred;
	const char *why;
	struct dentry *agdir;
	struct wsfs_turn turn;

	*agno = WSFS_GEO_NONE;
	why = wsfs_may_move(dentry);
	if (why)
		return why;
	if (mnt_want_write(wsb->lower_mnt))
		return "read-only below";

	wsfs_turn_begin(wsb, id, &turn);
	/* Else an anchor finds room in the set for data where none is for inodes. */
	if (!turn.geo.reflink)
		wsfs_turn_goes_on(&turn);
	old_cred = override_creds(wsb->cred);
	why = "no directory";
	while (why) {
		u32 next = wsfs_turn_next(&turn);

		if (next == WSFS_GEO_NONE)
			break;
		*agno = next;
		if (wsfs_geo_ino_to_agno(&turn.geo, wi->lower->i_ino) == next) {
			why = NULL;
			break;
		}
		agdir = wsfs_home_agdir(wsb, next);
		if (!agdir)
			continue;
		why = wsfs_move_to(dentry, parent, agdir, next);
		dput(agdir);
		/* Another AG helps against nothing else. */
		if (why != wsfs_no_inode)
			break;
	}
	revert_creds(old_cred);
	mnt_drop_write(wsb->lower_mnt);
	return why;
}
