// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing an empty file home: how XFS is persuaded to put a file into an AG.
 *
 * XFS allocates an inode in the AG of the directory it is made in, and the
 * file's first extent in the AG of the inode. To move an empty file to AG k, a
 * new file is made in k's directory (agdirs.c), given everything but the data
 * the old one had (carry.c), and renamed over it.
 *
 * A crash leaves the old or the new file under the name, both empty, and
 * perhaps the new one in k's directory, from where the next mount sweeps it.
 */

#include <linux/fs.h>
#include <linux/delay.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include "wsfs.h"

/*
 * Taken off i_writecount of a lower inode that is replaced, so that nobody can
 * open it for writing any more who found its name just before: what he wrote
 * would be lost. get_write_access() says ETXTBSY to him.
 */
#define WSFS_DENY_WRITE	(INT_MAX / 2)

/* How often to look again whether the lower file is in use elsewhere */
#define WSFS_USED_TRIES	5

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

/*
 * Takes the old file away from all others: from then on nobody can open it for
 * writing, and nobody but us holds it. Returns false where somebody does.
 */
static bool wsfs_seize(struct inode *inode, struct dentry *old)
{
	struct inode *old_inode = d_inode(old);
	int writers = wsfs_lower_writers(inode);

	if (atomic_cmpxchg(&old_inode->i_writecount, writers,
			   writers - WSFS_DENY_WRITE) != writers)
		return false;
	if (!wsfs_used_elsewhere(inode, old))
		return true;
	atomic_add(WSFS_DENY_WRITE, &old_inode->i_writecount);
	return false;
}

/* Has somebody come by a file handle while the file was carried over? */
static bool wsfs_was_used(struct inode *inode, struct dentry *old,
			  const struct kstat *stat)
{
	struct inode *old_inode = d_inode(old);
	struct timespec64 ctime = inode_get_ctime(old_inode);

	return wsfs_used_elsewhere(inode, old) ||
	       !timespec64_equal(&ctime, &stat->ctime) ||
	       old_inode->i_mode != stat->mode ||
	       old_inode->i_nlink != stat->nlink;
}

/* The old file is ours alone. Makes @new what it is, and puts it in its place. */
static const char *wsfs_replace(struct inode *inode, struct renamedata *rd)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct dentry *old = rd->new_dentry, *new = rd->old_dentry;
	struct path path = { .mnt = wsb->lower_mnt, .dentry = old };
	struct inode *old_inode = wi->lower;
	struct kstat stat;

	if (vfs_getattr_nosec(&path, &stat, STATX_BASIC_STATS,
			      AT_STATX_SYNC_AS_STAT) ||
	    stat.size || stat.blocks || mapping_mapped(old_inode->i_mapping))
		return "data";
	if (stat.nlink != 1)
		return "links";
	if (wsfs_carry(wsb, new, old, &stat))
		return "not carried over";
	if (wsfs_was_used(inode, old, &stat))
		return "changed below";
	if (vfs_rename(rd))
		return "rename";

	/* vfs_rename() has moved @new to the name of @old. */
	wsfs_inode_rehash(inode, d_inode(new));
	wsfs_replace_lower_dentry(inode, old, new);
	iput(old_inode);
	wi->moves++;
	return NULL;
}

/*
 * The exchange itself, with both lower directories locked. From the moment that
 * WSFS_MOVING is set no write through wsfs starts. On the lower nobody finds the
 * old file any more once its dentry is unhashed: a walk has to wait for the lock
 * of the directory. (By a file handle it can still be found, but not be opened
 * for writing.) So what it is can be carried over when those who had found it
 * before are gone.
 */
static const char *wsfs_exchange(struct inode *inode, struct inode *parent,
				 struct renamedata *rd)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	struct dentry *old = rd->new_dentry;
	struct inode *old_inode = wi->lower;
	const char *why = NULL;
	int tries = 0;

	if (cmpxchg(&wi->state, 0, BIT(WSFS_MOVING)) != 0)
		return "written";
	wsfs_change_begin(parent);
	d_drop(old);
	if (d_inode(old) != old_inode)
		why = "changed below";
	/* A stat() or a path walk passes in a moment. */
	while (!why && !wsfs_seize(inode, old)) {
		if (++tries == WSFS_USED_TRIES)
			why = "open below";
		else
			usleep_range(20, 100);
	}
	if (!why) {
		why = wsfs_replace(inode, rd);
		if (why)
			atomic_add(WSFS_DENY_WRITE, &old_inode->i_writecount);
	}
	if (why)
		d_rehash(old);
	wsfs_change_end(parent);
	clear_bit_unlock(WSFS_MOVING, &wi->state);
	/* Order the store before the look at the queue. */
	smp_mb__after_atomic();
	wake_up_bit(&wi->state, WSFS_MOVING);
	return why;
}

/* Why a file was not moved: its AG has no room */
static const char wsfs_no_inode[] = "no inode";

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

	new = wsfs_home_make(wsb, agdir, agno);
	if (IS_ERR(new))
		return wsfs_no_inode;
	why = "changed below";
	if (!start_renaming_two_dentries(&rd, new, old)) {
		why = wsfs_exchange(d_inode(dentry), d_inode(parent), &rd);
		end_renaming(&rd);
	}
	if (why)
		wsfs_home_remove(wsb, agdir, new);
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
	/* The new one would be so after it has left memory once. */
	if (IS_DAX(wi->lower))
		return "DAX";
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
