// SPDX-License-Identifier: GPL-2.0
/*
 * Anchors: bringing home what a file with data gets from now on.
 *
 * XFS puts an extent beside the one before it in the file, so where the last
 * block of a file lies, there its next one goes. To turn a file to AG k, its
 * last block is moved there: a donor, an unlinked file that lives in k (home.c
 * has the directory), gets a copy of it, and deduplication lets the file share
 * the donor's block in place of its own. Then the donor is emptied, and the
 * block is the file's alone.
 *
 * Deduplication is what makes this safe beside any reader and writer, on wsfs
 * or directly on the lower: with both files locked the lower compares the
 * bytes, and does nothing unless they are the same. No byte of the file ever
 * changes, nor its size or times. Before the exchange the lower has written
 * the donor's block, so that a power cut leaves the one block or the other. A
 * crash leaves no donor: it has no name.
 *
 * A file that has no data yet but cannot be moved either (home.c) is armed:
 * what is written to it first is moved once it is there, up to
 * WSFS_ANCHOR_MAX bytes. A file is armed as well when its end is seen outside
 * the set of its stream; the next write brings it back.
 *
 * What it leaves behind: XFS clears the mark of a shared file when it is asked
 * to unshare, and marks it as preallocated on this occasion. It does not trim
 * what it allocates past the end of such a file when it is closed; so that is
 * done here.
 */

#include <linux/fs.h>
#include <linux/falloc.h>
#include <linux/file.h>
#include <linux/fileattr.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/writeback.h>
#include "trace.h"
#include "wsfs.h"

/* What is moved at a time, and of the first data of a file at all */
#define WSFS_ANCHOR_CHUNK	(256 * 1024)
#define WSFS_ANCHOR_MAX		(16 * 1024 * 1024)

/* After a file could not be anchored */
#define WSFS_ANCHOR_RETRY	(5 * HZ)

/* Blocks past the end that are not worth a transaction to trim */
#define WSFS_TRIM_MIN		(64 * 1024)

static bool wsfs_is_dirty(struct inode *lower)
{
	return mapping_tagged(lower->i_mapping, PAGECACHE_TAG_DIRTY) ||
	       mapping_tagged(lower->i_mapping, PAGECACHE_TAG_WRITEBACK);
}

/* Empties a donor (@keep false), or frees the blocks past the end of a file. */
static int wsfs_truncate_lower(struct file *file, bool keep)
{
	struct dentry *dentry = file->f_path.dentry;
	struct inode *inode = d_inode(dentry);
	struct iattr attr = { .ia_valid = ATTR_SIZE };
	int err = mnt_want_write(file->f_path.mnt);

	if (err)
		return err;
	inode_lock(inode);
	/* Those under way may move the end. */
	inode_dio_wait(inode);
	if (keep)
		attr.ia_size = i_size_read(inode);
	err = notify_change(mnt_idmap(file->f_path.mnt), dentry, &attr, NULL);
	inode_unlock(inode);
	mnt_drop_write(file->f_path.mnt);
	return err;
}

/* An unlinked file in @agno */
static struct file *wsfs_donor_open(struct wsfs_sb *wsb, u32 agno)
{
	struct path path = { .mnt = wsb->lower_mnt };
	struct file *donor = ERR_PTR(-ENOSPC);
	struct wsfs_geo geo;
	int err = mnt_want_write(wsb->lower_mnt);

	if (err)
		return ERR_PTR(err);
	path.dentry = wsfs_home_agdir(wsb, agno);
	if (path.dentry) {
		donor = kernel_tmpfile_open(mnt_idmap(path.mnt), &path,
					    S_IFREG | 0600,
					    O_RDWR | O_LARGEFILE | O_NOATIME,
					    wsb->cred);
		dput(path.dentry);
	}
	mnt_drop_write(wsb->lower_mnt);
	if (IS_ERR(donor))
		return donor;
	wsfs_pool_geo(wsb, &geo);
	if (wsfs_geo_ino_to_agno(&geo, file_inode(donor)->i_ino) != agno) {
		__fput_sync(donor);
		return ERR_PTR(-ENOSPC);
	}
	return donor;
}

/* Is every block of the donor, @len bytes, on the disk and in @agno? */
static bool wsfs_donor_is_home(struct wsfs_sb *wsb, struct file *donor,
			       u32 agno, size_t len)
{
	struct inode *inode = file_inode(donor);
	struct wsfs_geo geo;
	sector_t block, i;

	wsfs_pool_geo(wsb, &geo);
	/* bmap() writes it back. */
	for (i = 0; i < DIV_ROUND_UP(len, i_blocksize(inode)); i++) {
		block = i;
		if (bmap(inode, &block) || !block ||
		    wsfs_geo_block_to_agno(&geo, block) != agno)
			return false;
	}
	return true;
}

static int wsfs_write_all(struct file *file, const void *buf, size_t len)
{
	loff_t pos = 0;

	while (pos < len) {
		ssize_t ret = kernel_write(file, buf + pos, len - pos, &pos);

		if (ret <= 0)
			return ret ?: -EIO;
	}
	return 0;
}

/* Why something was not moved: the AG has no room for it */
static const char wsfs_ag_full[] = "AG full";

/*
 * Does a page of the range seem to be the target of direct I/O? It would be
 * taken out of the page cache, and what arrives in it be lost. (A guess on the
 * safe side, and only as of now: see docs/interface.md.)
 */
static bool wsfs_is_pinned(struct address_space *mapping, loff_t start,
			   size_t len)
{
	pgoff_t index = start >> PAGE_SHIFT;
	pgoff_t last = (start + len - 1) >> PAGE_SHIFT;
	bool pinned = false;

	if (!mapping_mapped(mapping))
		return false;
	for (; !pinned && index <= last; index++) {
		struct folio *folio = filemap_get_folio(mapping, index);

		if (IS_ERR(folio))
			continue;
		pinned = folio_maybe_dma_pinned(folio);
		folio_put(folio);
	}
	return pinned;
}

/* Moves @len bytes from @start on into @agno: whole blocks, or up to the end. */
static const char *wsfs_move_chunk(struct wsfs_sb *wsb, struct file *lower,
				   struct file *donor, u32 agno, loff_t start,
				   size_t len, void *buf)
{
	loff_t pos = start;
	const char *why = NULL;

	if (kernel_read(lower, buf, len, &pos) != len)
		return "changed below";
	if (wsfs_write_all(donor, buf, len))
		why = "no block";
	else if (!wsfs_donor_is_home(wsb, donor, agno, len))
		why = wsfs_ag_full;
	else if (wsfs_is_pinned(lower->f_mapping, start, len))
		why = "pinned";
	else if (vfs_dedupe_file_range_one(donor, 0, lower, start, len, 0) !=
		 len)
		why = "not exchanged";
	/* On failure too: else the block stays shared. */
	if (wsfs_truncate_lower(donor, false) && !why)
		why = "donor stays";
	return why;
}

/* Moves the bytes from @start to @end into @agno. */
static const char *wsfs_move_range(struct wsfs_sb *wsb, struct file *lower,
				   u32 agno, loff_t start, loff_t end)
{
	size_t size = min_t(loff_t, end - start, WSFS_ANCHOR_CHUNK);
	const char *why = NULL;
	struct file *donor;
	void *buf;

	buf = kvmalloc(size, GFP_KERNEL);
	if (!buf)
		return "no memory";
	donor = wsfs_donor_open(wsb, agno);
	if (IS_ERR(donor)) {
		kvfree(buf);
		return PTR_ERR(donor) == -ENOSPC ? wsfs_ag_full : "no donor";
	}
	while (!why && start < end) {
		size_t len = min_t(loff_t, end - start, size);

		why = wsfs_move_chunk(wsb, lower, donor, agno, start, len, buf);
		start += len;
	}
	__fput_sync(donor);
	kvfree(buf);
	return why;
}

static bool wsfs_is_preallocated(struct file *lower)
{
	struct file_kattr fa = {};

	return !vfs_fileattr_get(lower->f_path.dentry, &fa) &&
	       (fa.fsx_xflags & FS_XFLAG_PREALLOC);
}

/* The lower file as wsfs opens it for itself: changes no times */
static struct file *wsfs_open_own(struct wsfs_sb *wsb, struct dentry *dentry)
{
	struct path path = { .mnt = wsb->lower_mnt, .dentry = dentry };
	struct file *file = dentry_open(&path, O_RDWR | O_LARGEFILE | O_NOATIME,
					wsb->cred);

	if (!IS_ERR(file))
		file->f_mode |= FMODE_NOCMTIME;
	return file;
}

/*
 * Takes the mark of sharing off the file, which makes XFS send partial blocks
 * through the page cache. It stays while something is dirty or shared with
 * other files of the user's.
 */
static void wsfs_unshare(struct wsfs_inode *wi, struct file *lower)
{
	struct inode *lower_inode = file_inode(lower);
	loff_t size = i_size_read(lower_inode);
	loff_t block = i_blocksize(lower_inode);
	loff_t start = round_down(wi->anchored_at, block);

	if (wsfs_is_dirty(lower_inode)) {
		set_bit(WSFS_UNSHARE, &wi->flags);
		return;
	}
	/* Unsharing is a write to XFS, and takes file capabilities away. */
	if (__vfs_getxattr(lower->f_path.dentry, lower_inode, XATTR_NAME_CAPS,
			   NULL, 0) > 0) {
		set_bit(WSFS_UNSHARE, &wi->flags);
		return;
	}
	clear_bit(WSFS_UNSHARE, &wi->flags);
	/* It would fill a hole. */
	if (start >= size)
		return;
	/* Clears I_DIRTY_PAGES, by which XFS goes as well. */
	sync_inode_metadata(lower_inode, 1);
	if (vfs_fallocate(lower, FALLOC_FL_UNSHARE_RANGE | FALLOC_FL_KEEP_SIZE,
			  start, min(block, size - start)))
		set_bit(WSFS_UNSHARE, &wi->flags);
}

/* Blocks of 512 bytes, those that are only reserved included */
static u64 wsfs_blocks(struct file *lower)
{
	struct kstat stat;

	if (vfs_getattr_nosec(&lower->f_path, &stat, STATX_BLOCKS,
			      AT_STATX_SYNC_AS_STAT))
		return 0;
	return stat.blocks;
}

/* In which AG does the last block lie? NONE where the lower does not tell. */
static u32 wsfs_last_agno(struct wsfs_sb *wsb, struct inode *lower)
{
	loff_t size = i_size_read(lower);
	struct wsfs_geo geo;
	sector_t block;

	if (!size || wsfs_is_dirty(lower))
		return WSFS_GEO_NONE;
	block = (size - 1) >> lower->i_blkbits;
	if (bmap(lower, &block) || !block)
		return WSFS_GEO_NONE;
	wsfs_pool_geo(wsb, &geo);
	return wsfs_geo_block_to_agno(&geo, block);
}

/*
 * The file was anchored up to @end. Who had passed wsfs_anchor_write() before
 * may have made it grow beside its old end: that is to come home as well.
 */
static void wsfs_look_again(struct wsfs_sb *wsb, struct wsfs_inode *wi,
			    struct inode *lower, u32 id, loff_t end)
{
	struct wsfs_geo geo;
	u32 agno;

	if (i_size_read(lower) <= end)
		return;
	agno = wsfs_last_agno(wsb, lower);
	wsfs_pool_geo(wsb, &geo);
	if (agno == WSFS_GEO_NONE || agno == wi->home_agno ||
	    wsfs_geo_set_contains(&geo, id, agno))
		return;
	wi->armed_at = end;
	set_bit(WSFS_ARMED, &wi->flags);
}

/*
 * Brings the end of the file to an AG of the set; what was written since the
 * file was armed as well, if that is not too much.
 */
static const char *wsfs_anchor_end(struct inode *inode, struct file *lower,
				   u32 id)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct inode *lower_inode = file_inode(lower);
	loff_t size, start, end, block = i_blocksize(lower_inode);
	bool preallocated = wsfs_is_preallocated(lower);
	const char *why = "no directory";
	struct wsfs_turn turn;
	u32 next, agno = WSFS_GEO_NONE;

	/* XFS allocates past the end for a writer to come: not there. */
	if (!preallocated || test_bit(WSFS_TRIM, &wi->flags)) {
		if (wsfs_truncate_lower(lower, true))
			return "not trimmed";
	}
	size = i_size_read(lower_inode);
	if (!size)
		return "changed below";
	/* The VFS would send the caller SIGXFSZ for a write that is not his. */
	if (size > rlimit(RLIMIT_FSIZE))
		return "size limit";
	start = round_down(size - 1, block);
	end = size;
	/*
	 * Of a file that is all hole the first block: what is written back from
	 * the page cache follows its left neighbour only.
	 */
	if (!wsfs_blocks(lower)) {
		start = 0;
		end = min(size, block);
	} else if (wi->armed_at <= start - block &&
		   size - round_up(wi->armed_at, block) <= WSFS_ANCHOR_MAX) {
		start = round_up(wi->armed_at, block);
	}

	wsfs_turn_begin(wsb, id, &turn);
	wsfs_turn_goes_on(&turn);
	while (why) {
		next = wsfs_turn_next(&turn);
		if (next == WSFS_GEO_NONE)
			break;
		agno = next;
		if (wsfs_home_is_full(wsb, agno)) {
			why = wsfs_ag_full;
			continue;
		}
		why = wsfs_move_range(wsb, lower, agno, start, end);
		if (why == wsfs_ag_full)
			wsfs_home_note_full(wsb, agno);
		else
			/* Not for want of room: the AGs of others are no help. */
			turn.goes_on = false;
	}
	if (why)
		return why;
	wsfs_steer_overflow(inode, id, agno);
	if (!preallocated)
		set_bit(WSFS_TRIM, &wi->flags);
	wi->home_agno = agno;
	wi->anchored_at = round_down(end - 1, block);
	wsfs_unshare(wi, lower);
	wsfs_look_again(wsb, wi, lower_inode, id, end);
	atomic64_inc(&wsb->streams[id].anchored);
	trace_wsfs_anchor(inode, id, agno, start);
	return NULL;
}

/**
 * wsfs_anchor() - make the file's next blocks come from its stream's set
 * @inode: a regular wsfs inode
 * @dentry: its lower dentry
 * @id: the stream
 *
 * The caller holds the i_rwsem, shared at least, and wsfs_inode.lock, and has
 * no write access to the lower.
 *
 * Return: NULL when the file is anchored, or armed because it is empty; else
 * why not, for the trace.
 */
const char *wsfs_anchor(struct inode *inode, struct dentry *dentry, u32 id)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	const struct cred *old_cred;
	struct file *lower;
	struct wsfs_geo geo;
	const char *why;
	u32 agno;

	wsfs_pool_geo(wsb, &geo);
	if (!geo.reflink)
		return "no reflink";
	set_bit(WSFS_ANCHORED, &wi->flags);
	clear_bit(WSFS_ARMED, &wi->flags);
	if (!i_size_read(d_inode(dentry))) {
		agno = wsfs_geo_ino_to_agno(&geo, d_inode(dentry)->i_ino);
		wi->anchored_at = 0;
		wi->armed_at = 0;
		/* Nothing to move yet, and no need where the inode is home. */
		if (wsfs_geo_set_contains(&geo, id, agno))
			wi->home_agno = agno;
		else
			set_bit(WSFS_ARMED, &wi->flags);
		return NULL;
	}
	agno = wsfs_last_agno(wsb, d_inode(dentry));
	if (wsfs_geo_set_contains(&geo, id, agno) &&
	    wi->armed_at > round_down(i_size_read(d_inode(dentry)) - 1,
				      i_blocksize(inode)) - i_blocksize(inode)) {
		wi->home_agno = agno;
		wi->anchored_at = i_size_read(d_inode(dentry)) - 1;
		return NULL;
	}

	old_cred = override_creds(wsb->cred);
	lower = wsfs_open_own(wsb, dentry);
	if (IS_ERR(lower)) {
		why = "not opened";
	} else {
		why = wsfs_anchor_end(inode, lower, id);
		/* Now: SET looks at who has it open. */
		__fput_sync(lower);
	}
	revert_creds(old_cred);
	if (why) {
		clear_bit(WSFS_ANCHORED, &wi->flags);
		wi->anchor_retry = jiffies + WSFS_ANCHOR_RETRY;
	}
	return why;
}

/**
 * wsfs_anchor_armed() - bring back the end of a file that is armed
 * @inode: a regular wsfs inode
 * @lower: its lower file
 *
 * Takes the i_rwsem shared and wsfs_inode.lock.
 */
void wsfs_anchor_armed(struct inode *inode, struct file *lower)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	const char *why;
	u32 id;

	inode_lock_shared(inode);
	mutex_lock(&wi->lock);
	if (!wsfs_inode_stream(inode, &id)) {
		clear_bit(WSFS_ARMED, &wi->flags);
	} else if (test_bit(WSFS_ARMED, &wi->flags)) {
		why = wsfs_anchor(inode, lower->f_path.dentry, id);
		if (why)
			wsfs_steer_miss(inode, id, why);
	}
	mutex_unlock(&wi->lock);
	inode_unlock_shared(inode);
}

/**
 * wsfs_anchor_write() - before a write to a file that is armed
 * @inode: a regular wsfs inode
 * @lower: its lower file
 * @nowait: do not wait
 *
 * Return: 0, or EAGAIN with @nowait where there is something to be done; it
 * will not be asked for again when that fails.
 */
int wsfs_anchor_write(struct inode *inode, struct file *lower, bool nowait)
{
	if (!i_size_read(file_inode(lower)))
		return 0;
	if (nowait)
		return -EAGAIN;
	wsfs_anchor_armed(inode, lower);
	return 0;
}

/**
 * wsfs_anchor_truncated() - the size of a file was set
 * @inode: a regular wsfs inode, its i_rwsem held
 * @dentry: its lower dentry
 */
void wsfs_anchor_truncated(struct inode *inode, struct dentry *dentry)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	loff_t size = i_size_read(d_inode(dentry));
	const char *why = NULL;
	u32 id;

	if (!test_bit(WSFS_ANCHORED, &wi->flags) ||
	    !wsfs_inode_stream(inode, &id))
		return;
	mutex_lock(&wi->lock);
	/* Is what held the end gone, or is there something to move at last? */
	if (test_bit(WSFS_ARMED, &wi->flags) || size <= wi->anchored_at) {
		wi->armed_at = size;
		why = wsfs_anchor(inode, dentry, id);
	}
	if (why)
		wsfs_steer_miss(inode, id, why);
	mutex_unlock(&wi->lock);
}

/**
 * wsfs_anchor_settle() - what is left to do once nothing is dirty
 * @inode: a regular wsfs inode
 * @lower: its lower file
 * @closing: somebody who may have written closes it
 */
void wsfs_anchor_settle(struct inode *inode, struct file *lower, bool closing)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct inode *lower_inode = file_inode(lower);
	const struct cred *old_cred;
	struct file *own;

	/* Not in the name of one who may only read: the mount may be read-only. */
	if (!(lower->f_mode & FMODE_WRITE) || wsfs_is_dirty(lower_inode) ||
	    !i_size_read(lower_inode) || wsfs_lower_frozen(lower_inode->i_sb))
		return;
	/*
	 * A stray can wait for the next write. So can a file that the exit of a
	 * process closes: no donor is made without an fs_struct and its umask.
	 */
	if (test_bit(WSFS_ARMED, &wi->flags) && current->fs &&
	    READ_ONCE(wi->armed_at) < i_size_read(lower_inode))
		wsfs_anchor_armed(inode, lower);
	closing = closing && test_bit(WSFS_TRIM, &wi->flags) &&
		  wsfs_blocks(lower) * 512 >=
			  i_size_read(lower_inode) + WSFS_TRIM_MIN;
	if (!closing && !test_bit(WSFS_UNSHARE, &wi->flags))
		return;

	old_cred = override_creds(wsb->cred);
	inode_lock_shared(inode);
	mutex_lock(&wi->lock);
	own = wsfs_open_own(wsb, lower->f_path.dentry);
	if (!IS_ERR(own)) {
		if (test_bit(WSFS_UNSHARE, &wi->flags))
			wsfs_unshare(wi, own);
		/* Not what somebody has preallocated before we had the lock. */
		if (closing && test_bit(WSFS_TRIM, &wi->flags))
			wsfs_truncate_lower(own, true);
		__fput_sync(own);
	}
	mutex_unlock(&wi->lock);
	inode_unlock_shared(inode);
	revert_creds(old_cred);
}
