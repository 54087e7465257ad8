// SPDX-License-Identifier: GPL-2.0
/*
 * Steering: which stream a file has, and which AG of the stream's set it gets.
 *
 * A stream is set on an inode by value and holds nothing. The place is chosen
 * once, at SET, by putting the file's inode into the AG (home.c): XFS puts the
 * first extent next to the inode and every later one next to the one before.
 * Where that is not possible the stream is noted all the same, and the miss is
 * counted.
 */

#include <linux/fs.h>
#include <linux/fileattr.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include "../uapi/linux/wsfs.h"
#include "wsfs.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

/* A per-CPU count of bytes is folded into the shared one at this size. */
#define WSFS_BYTES_BATCH	(256 * 1024 * 1024)

/**
 * wsfs_lower_xflags() - FS_XFLAG_* of a file or directory
 * @dentry: its wsfs dentry
 * @xflags: where to; 0 on error
 *
 * Return: 0 or what the lower says.
 */
int wsfs_lower_xflags(const struct dentry *dentry, u32 *xflags)
{
	struct dentry *lower = wsfs_lower_dentry_get(dentry);
	struct file_kattr fa = {};
	int err = vfs_fileattr_get(lower, &fa);

	dput(lower);
	*xflags = err ? 0 : fa.fsx_xflags;
	return err;
}

/**
 * wsfs_steer_on_data() - is a file placed on the data device
 * @file: a wsfs file or directory
 *
 * Return: false for realtime files.
 */
bool wsfs_steer_on_data(struct file *file)
{
	struct wsfs_sb *wsb = WSFS_SB(file_inode(file)->i_sb);
	u32 xflags;

	return !wsb->geo.realtime || !S_ISREG(file_inode(file)->i_mode) ||
	       (!wsfs_lower_xflags(file_dentry(file), &xflags) &&
		!(xflags & FS_XFLAG_REALTIME));
}

/**
 * wsfs_steer_nr() - streams of the device that a file is placed on
 * @file: a wsfs file or directory
 *
 * Return: number of streams that can be reserved; none on the realtime device.
 */
u32 wsfs_steer_nr(struct file *file)
{
	return wsfs_steer_on_data(file) ?
	       ws_pool_nr_offered(WSFS_SB(file_inode(file)->i_sb)->pool) : 0;
}

/**
 * wsfs_inode_stream() - the stream that a file carries
 * @inode: a wsfs inode
 * @id: the stream's id
 *
 * Return: true if there is one and its reservation still holds.
 */
bool wsfs_inode_stream(const struct inode *inode, u32 *id)
{
	struct ws_stream_ref ref = {
		.token = READ_ONCE(WSFS_I(inode)->stream.token),
	};

	if (likely(ws_stream_ref_none(ref)) ||
	    !ws_stream_live(WSFS_SB(inode->i_sb)->pool, ref))
		return false;
	*id = ws_stream_ref_id(ref);
	return true;
}

/* Under wsfs_inode.lock, or when nobody else can see the inode any more. */
static void wsfs_change_stream(struct inode *inode, struct ws_stream_ref ref)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct ws_pool *pool = wsb->pool;

	spin_lock(&pool->lock);
	if (ws_stream_live(pool, wi->stream))
		wsb->streams[ws_stream_ref_id(wi->stream)].files--;
	if (ws_stream_live(pool, ref))
		wsb->streams[ws_stream_ref_id(ref)].files++;
	WRITE_ONCE(wi->stream.token, ref.token);
	spin_unlock(&pool->lock);
}

/**
 * wsfs_steer_forget() - an inode leaves memory
 * @inode: a wsfs inode that is being evicted
 */
void wsfs_steer_forget(struct inode *inode)
{
	if (!S_ISDIR(inode->i_mode) &&
	    !ws_stream_ref_none(WSFS_I(inode)->stream))
		wsfs_change_stream(inode, WS_STREAM_NONE);
}

/**
 * wsfs_steer_miss() - a file does not lie where its stream lives
 * @inode: the wsfs inode
 * @id: the stream
 * @why: for the trace
 *
 * Counted once for each SET.
 */
void wsfs_steer_miss(struct inode *inode, u32 id, const char *why)
{
	if (test_and_set_bit(WSFS_MISSED, &WSFS_I(inode)->flags))
		return;
	atomic64_inc(&WSFS_SB(inode->i_sb)->streams[id].missed);
	trace_wsfs_miss(inode, id, why);
}

/**
 * wsfs_steer_overflow() - a file was given a place; was that for want of room
 * @inode: the wsfs inode
 * @id: the stream
 * @agno: AG that it was given
 *
 * Counts it if the AG is outside of the stream's set.
 */
void wsfs_steer_overflow(struct inode *inode, u32 id, u32 agno)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_geo geo;

	wsfs_pool_geo(wsb, &geo);
	if (wsfs_geo_set_contains(&geo, id, agno))
		return;
	atomic64_inc(&wsb->streams[id].overflowed);
	wsfs_steer_miss(inode, id, "overflow");
}

/**
 * wsfs_steer_may_set() - may the caller set or clear
 * @file: a wsfs file or directory, its i_rwsem held
 *
 * Return: 0 or EPERM.
 */
int wsfs_steer_may_set(struct file *file)
{
	struct inode *inode = file_inode(file);

	/* Somebody may have changed flags or owner below. */
	wsfs_copy_attr(inode);
	if (IS_IMMUTABLE(inode))
		return -EPERM;
	if (!inode_owner_or_capable(file_mnt_idmap(file), inode))
		return -EPERM;
	return 0;
}

/* What a stream excludes */
static int wsfs_may_steer(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	u32 xflags, id;
	int err;

	err = wsfs_lower_xflags(file_dentry(file), &xflags);
	if (err)
		return err;
	/* The pool is that of the data device. */
	if (xflags & FS_XFLAG_REALTIME)
		return -EXDEV;
	if (wsb->filestreams || (xflags & FS_XFLAG_FILESTREAM))
		return -EBUSY;
	/* A hint that came after a stream gives way to it. */
	if (inode->i_write_hint != WRITE_LIFE_NOT_SET) {
		if (!wsfs_inode_stream(inode, &id) ||
		    test_bit(WSFS_BY_HINT, &WSFS_I(inode)->flags))
			return -EBUSY;
		wsfs_steer_sync_hint(inode, wsfs_lower_inode(inode));
	}
	return 0;
}

/*
 * Takes the i_rwsem of a file and, if it is to move, of its directory. One
 * opened by its handle may be without a name, and its own parent.
 */
static struct dentry *wsfs_lock_for_set(struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);
	struct dentry *parent;

	while (!IS_ROOT(dentry)) {
		parent = dget_parent(dentry);
		inode_lock_nested(d_inode(parent), I_MUTEX_PARENT);
		if (dentry->d_parent == parent) {
			inode_lock(inode);
			return parent;
		}
		inode_unlock(d_inode(parent));
		dput(parent);
	}
	inode_lock(inode);
	return NULL;
}

static void wsfs_unlock_for_set(struct dentry *dentry, struct dentry *parent)
{
	inode_unlock(d_inode(dentry));
	if (!parent)
		return;
	inode_unlock(d_inode(parent));
	dput(parent);
}

static void wsfs_forget_place(struct wsfs_inode *wi)
{
	clear_bit(WSFS_HOMED, &wi->flags);
	clear_bit(WSFS_MISSED, &wi->flags);
	clear_bit(WSFS_ANCHORED, &wi->flags);
	clear_bit(WSFS_ARMED, &wi->flags);
}

static void wsfs_is_home(struct inode *inode, u32 id, u32 agno)
{
	struct wsfs_inode *wi = WSFS_I(inode);

	wi->home_agno = agno;
	clear_bit(WSFS_UNSHARE, &wi->flags);
	clear_bit(WSFS_TRIM, &wi->flags);
	set_bit(WSFS_HOMED, &wi->flags);
	atomic64_inc(&WSFS_SB(inode->i_sb)->streams[id].homed);
	trace_wsfs_home(inode, id, agno);
}

static void wsfs_place(struct dentry *dentry, struct dentry *parent, u32 id)
{
	struct inode *inode = d_inode(dentry);
	struct wsfs_inode *wi = WSFS_I(inode);
	const char *why;
	u32 agno;

	wsfs_forget_place(wi);
	why = wsfs_home_place(dentry, parent, id, &agno);
	if (!why) {
		wsfs_is_home(inode, id, agno);
		wsfs_steer_overflow(inode, id, agno);
		return;
	}
	wi->home_agno = agno;
	wi->armed_at = i_size_read(wi->lower);
	why = wsfs_anchor(inode, wsfs_lower_dentry(dentry), id);
	if (why)
		wsfs_steer_miss(inode, id, why);
}

/* Has it inherited what the AGs of the data device are no use for? */
static bool wsfs_is_xfs_placed(const struct dentry *dentry)
{
	u32 xflags;

	return wsfs_lower_xflags(dentry, &xflags) ||
	       (xflags & (FS_XFLAG_REALTIME | FS_XFLAG_FILESTREAM));
}

/**
 * wsfs_steer_born() - a new file gets the stream of its directory
 * @dentry: dentry of a regular wsfs file
 * @parent: its parent, whose i_rwsem the caller holds; NULL for O_TMPFILE
 * @ref: the stream; nothing is done where it is released already
 * @agno: AG that the file was made in, %WSFS_GEO_NONE if that was left to XFS
 *
 * Takes the i_rwsem of the file. That it could not be placed is counted.
 */
void wsfs_steer_born(struct dentry *dentry, struct dentry *parent,
		     struct ws_stream_ref ref, u32 agno)
{
	struct inode *inode = d_inode(dentry);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	u32 id = ws_stream_ref_id(ref);
	struct wsfs_geo geo;

	inode_lock(inode);
	mutex_lock(&wi->lock);
	/* Somebody may have found it and set one himself. */
	if (!ws_stream_live(wsb->pool, ref) || !ws_stream_ref_none(wi->stream))
		goto out;
	wsfs_pool_geo(wsb, &geo);
	if (agno != WSFS_GEO_NONE &&
	    wsfs_geo_ino_to_agno(&geo, wi->lower->i_ino) == agno) {
		wsfs_is_home(inode, id, agno);
	} else {
		if (wsfs_is_xfs_placed(dentry)) {
			atomic64_inc(&wsb->streams[id].missed);
			trace_wsfs_miss(inode, id, "realtime or filestream");
			goto out;
		}
		wsfs_place(dentry, parent, id);
	}
	wsfs_change_stream(inode, ref);
	trace_wsfs_set(inode, id);
out:
	mutex_unlock(&wi->lock);
	inode_unlock(inode);
}

/**
 * wsfs_steer_spread() - a new file is to be in the AG whose turn it is
 * @dentry: dentry of a regular wsfs file
 * @parent: its parent, whose i_rwsem the caller holds; NULL for O_TMPFILE
 * @set: WSFS_SET_*
 * @agno: AG that the file was made in, %WSFS_GEO_NONE if that was left to XFS
 *
 * Takes the i_rwsem of the file. That it could not be placed is counted.
 */
void wsfs_steer_spread(struct dentry *dentry, struct dentry *parent, u32 set,
		       u32 agno)
{
	struct inode *inode = d_inode(dentry);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	const char *why = NULL;
	struct wsfs_geo geo;

	inode_lock(inode);
	mutex_lock(&wi->lock);
	wsfs_pool_geo(wsb, &geo);
	/* Not where somebody has found it and set a stream himself */
	if (ws_stream_ref_none(wi->stream) &&
	    (agno == WSFS_GEO_NONE ||
	     wsfs_geo_ino_to_agno(&geo, wi->lower->i_ino) != agno))
		why = wsfs_is_xfs_placed(dentry) ? "realtime or filestream" :
		      wsfs_home_place(dentry, parent, set, &agno);
	if (why)
		trace_wsfs_miss(inode, WSFS_GEO_NONE, why);
	atomic64_inc(why ? &wsb->spread_missed : &wsb->spread_homed);
	mutex_unlock(&wi->lock);
	inode_unlock(inode);
}

/**
 * wsfs_steer_set() - FS_IOC_WRITE_STREAM_SET
 * @file: a regular wsfs file, open for writing
 * @stream_fd: fd of the stream
 *
 * Takes the i_rwsem of the file's directory and of the file, as unlink(2) does.
 *
 * Return: 0 or the errors of uapi/linux/write_streams.h. That the file could
 * not be placed is not one: it is counted.
 */
int wsfs_steer_set(struct file *file, int stream_fd)
{
	struct wsfs_sb *wsb = WSFS_SB(file_inode(file)->i_sb);
	struct ws_stream_ref ref;
	struct file *stream_file;
	int err;

	/* Held so that the reservation cannot go while it is being set. */
	stream_file = ws_stream_fget(wsb->pool, stream_fd, &ref);
	if (IS_ERR(stream_file))
		return PTR_ERR(stream_file);
	err = wsfs_steer_set_ref(file, ref);
	fput(stream_file);
	return err;
}

/**
 * wsfs_steer_set_ref() - the same for a stream that is known
 * @file: a regular wsfs file, open for writing
 * @ref: the stream, whose reservation cannot go meanwhile
 *
 * Return: as wsfs_steer_set().
 */
int wsfs_steer_set_ref(struct file *file, struct ws_stream_ref ref)
{
	struct inode *inode = file_inode(file);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct dentry *parent;
	u32 id;
	int err;

	/* A frozen lower is waited for here, before lookups wait for us. */
	if (!mnt_want_write(wsb->lower_mnt))
		mnt_drop_write(wsb->lower_mnt);
	err = mnt_want_write_file(file);
	if (err)
		return err;
	wsfs_pool_refresh_due(wsb);

	parent = wsfs_lock_for_set(file_dentry(file));
	err = wsfs_steer_may_set(file);
	if (!err)
		err = wsfs_may_steer(file);
	if (err)
		goto out_unlock;

	id = ws_stream_ref_id(ref);
	mutex_lock(&wi->lock);
	if (!ws_stream_ref_equal(wi->stream, ref)) {
		wsfs_place(file_dentry(file), parent, id);
		wsfs_change_stream(inode, ref);
		trace_wsfs_set(inode, id);
	}
	clear_bit(WSFS_BY_HINT, &wi->flags);
	mutex_unlock(&wi->lock);
out_unlock:
	wsfs_unlock_for_set(file_dentry(file), parent);
	mnt_drop_write_file(file);
	return err;
}

/* The stream set aside for a hint: shorter lives come first. */
static struct ws_stream_ref wsfs_hint_ref(const struct wsfs_sb *wsb,
					  enum rw_hint hint)
{
	u32 first = ws_pool_nr_offered(wsb->pool);

	if (hint < WRITE_LIFE_SHORT || hint > WRITE_LIFE_EXTREME)
		return WS_STREAM_NONE;
	return ws_pool_aside_ref(wsb->pool, first +
				 (hint - WRITE_LIFE_SHORT) * wsb->hints /
				 WSFS_HINTS_MAX);
}

/* Under the locks of SET */
static void wsfs_follow_hint(struct dentry *dentry, struct dentry *parent,
			     enum rw_hint hint)
{
	struct inode *inode = d_inode(dentry);
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct ws_stream_ref ref = wsfs_hint_ref(wsb, hint);
	u32 id;

	if (ws_stream_ref_equal(wi->stream, ref))
		return;
	if (!ws_stream_ref_none(ref) &&
	    (wsb->filestreams || wsfs_is_xfs_placed(dentry))) {
		trace_wsfs_miss(inode, ws_stream_ref_id(ref),
				"realtime or filestream");
		atomic64_inc(&wsb->streams[ws_stream_ref_id(ref)].missed);
		return;
	}
	if (ws_stream_ref_none(ref)) {
		wsfs_change_stream(inode, ref);
		wsfs_forget_place(wi);
		clear_bit(WSFS_BY_HINT, &wi->flags);
		return;
	}
	id = ws_stream_ref_id(ref);
	wsfs_place(dentry, parent, id);
	/* First: a stream that is not by a hint would reset it. */
	set_bit(WSFS_BY_HINT, &wi->flags);
	wsfs_change_stream(inode, ref);
	trace_wsfs_set(inode, id);
}

/**
 * wsfs_steer_hint() - before something is allocated for a file whose life time
 *	hint has changed
 * @file: a regular wsfs file, open for writing, write access taken
 * @nowait: do not wait
 *
 * With -o hints the file gets the stream of the hint, or loses it with it. A
 * stream that was set is not touched: the hint gives way at
 * wsfs_steer_sync_hint(). Takes the locks of SET.
 *
 * Return: 0, or EAGAIN with @nowait where there is something to be done.
 */
int wsfs_steer_hint(struct file *file, bool nowait)
{
	struct inode *inode = file_inode(file);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct dentry *parent;
	enum rw_hint hint;
	u32 id;

	if (!WSFS_SB(inode->i_sb)->hints) {
		WRITE_ONCE(wi->hint, READ_ONCE(inode->i_write_hint));
		return 0;
	}
	if (wsfs_inode_stream(inode, &id) &&
	    !test_bit(WSFS_BY_HINT, &wi->flags))
		return 0;
	if (nowait)
		return -EAGAIN;
	parent = wsfs_lock_for_set(file_dentry(file));
	mutex_lock(&wi->lock);
	hint = READ_ONCE(inode->i_write_hint);
	if (!wsfs_inode_stream(inode, &id) ||
	    test_bit(WSFS_BY_HINT, &wi->flags)) {
		wsfs_follow_hint(file_dentry(file), parent, hint);
		WRITE_ONCE(wi->hint, hint);
	}
	mutex_unlock(&wi->lock);
	wsfs_unlock_for_set(file_dentry(file), parent);
	return 0;
}

/**
 * wsfs_steer_clear() - FS_IOC_WRITE_STREAM_SET with FS_WRITE_STREAM_SET_CLEAR
 * @file: a regular wsfs file, open for writing
 *
 * The file keeps its place.
 *
 * Return: 0, EPERM or EROFS.
 */
int wsfs_steer_clear(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct wsfs_inode *wi = WSFS_I(inode);
	int err = mnt_want_write_file(file);

	if (err)
		return err;
	inode_lock(inode);
	err = wsfs_steer_may_set(file);
	if (!err) {
		mutex_lock(&wi->lock);
		/* That of a hint goes with the hint. */
		if (!test_bit(WSFS_BY_HINT, &wi->flags)) {
			wsfs_change_stream(inode, WS_STREAM_NONE);
			wsfs_forget_place(wi);
		}
		mutex_unlock(&wi->lock);
	}
	inode_unlock(inode);
	mnt_drop_write_file(file);
	return err;
}

/**
 * wsfs_steer_written() - count what was written to a file with a stream
 * @inode: the wsfs inode
 * @bytes: more than 0
 *
 * Any context. Without a stream it costs one load, with one a per-CPU add.
 */
void wsfs_steer_written(struct inode *inode, ssize_t bytes)
{
	u32 id;

	if (wsfs_inode_stream(inode, &id))
		percpu_counter_add_batch(&WSFS_SB(inode->i_sb)->streams[id].bytes,
					 bytes, WSFS_BYTES_BATCH);
}

/**
 * wsfs_steer_check() - look where a file's newest data has gone
 * @inode: the wsfs inode
 * @file: its lower file
 * @closing: somebody who may have written closes it
 *
 * Where an AG of the set is full, or somebody else allocates in it just then,
 * XFS goes elsewhere. Looks at the last block, at fsync and when a writer
 * closes, and only where that needs no write-back. The next write brings the
 * end of the file back.
 */
void wsfs_steer_check(struct inode *inode, struct file *file, bool closing)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	struct wsfs_inode *wi = WSFS_I(inode);
	struct inode *lower = file_inode(file);
	loff_t size = i_size_read(lower);
	struct wsfs_geo geo;
	sector_t block;
	u32 id, agno;

	if (unlikely(READ_ONCE(wi->flags) &
		     (BIT(WSFS_ARMED) | BIT(WSFS_UNSHARE) | BIT(WSFS_TRIM))))
		wsfs_anchor_settle(inode, file, closing);
	/* What is armed comes home from where it was armed on. */
	if (!size || wsfs_is_armed(inode) || !wsfs_inode_stream(inode, &id) ||
	    time_before(jiffies, READ_ONCE(wi->anchor_retry)) ||
	    mapping_tagged(lower->i_mapping, PAGECACHE_TAG_DIRTY) ||
	    mapping_tagged(lower->i_mapping, PAGECACHE_TAG_WRITEBACK))
		return;
	block = (size - 1) >> lower->i_blkbits;
	/* 0 is a hole, or a file that XFS will not tell about. */
	if (bmap(lower, &block) || !block)
		return;
	wsfs_pool_geo(wsb, &geo);
	agno = wsfs_geo_block_to_agno(&geo, block);
	/* Where it was put may be outside the set, when that is full. */
	if (agno == READ_ONCE(wi->home_agno) ||
	    wsfs_geo_set_contains(&geo, id, agno))
		return;
	wsfs_steer_miss(inode, id, "stray");
	if (!geo.reflink)
		return;
	mutex_lock(&wi->lock);
	wi->armed_at = size;
	set_bit(WSFS_ARMED, &wi->flags);
	mutex_unlock(&wi->lock);
}

/**
 * wsfs_steer_shared() - blocks of another file have come to a file
 * @inode: the wsfs inode, pinned
 * @end: where they end
 *
 * They lie where the other file does, and stay shared: there is nothing to
 * move. Where the file ends with them, the next write brings its end to the set
 * of its stream. Takes wsfs_inode.lock.
 */
void wsfs_steer_shared(struct inode *inode, loff_t end)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	loff_t size = i_size_read(wi->lower);
	u32 id;

	if (end < size || !WSFS_SB(inode->i_sb)->geo.reflink ||
	    !wsfs_inode_stream(inode, &id))
		return;
	mutex_lock(&wi->lock);
	wi->armed_at = size;
	set_bit(WSFS_ARMED, &wi->flags);
	mutex_unlock(&wi->lock);
}

/**
 * wsfs_steer_sync_hint() - make a life time hint of the wsfs inode count
 * @inode: the wsfs inode
 * @lower: its lower inode
 *
 * F_SET_RW_HINT calls no filesystem, so this is done at the next operation. On
 * a file with a stream the hint goes: the two exclude each other. (Not with the
 * stream that the hint itself has chosen.)
 */
void wsfs_steer_sync_hint(struct inode *inode, struct inode *lower)
{
	struct wsfs_sb *wsb = WSFS_SB(inode->i_sb);
	u32 id;

	if (wsfs_inode_stream(inode, &id) &&
	    !test_bit(WSFS_BY_HINT, &WSFS_I(inode)->flags)) {
		if (READ_ONCE(inode->i_write_hint) == WRITE_LIFE_NOT_SET &&
		    READ_ONCE(lower->i_write_hint) == WRITE_LIFE_NOT_SET)
			return;
		WRITE_ONCE(inode->i_write_hint, WRITE_LIFE_NOT_SET);
		atomic64_inc(&wsb->hints_reset);
	}
	WRITE_ONCE(lower->i_write_hint, READ_ONCE(inode->i_write_hint));
}

/**
 * wsfs_steer_info() - answer WSFS_IOC_FILE_INFO
 * @inode: a wsfs inode
 * @info: zeroed
 */
void wsfs_steer_info(struct inode *inode, struct wsfs_file_info *info)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	struct wsfs_geo geo;

	wsfs_pool_geo(WSFS_SB(inode->i_sb), &geo);
	info->inode_agno = wsfs_geo_ino_to_agno(&geo, inode->i_ino);
	mutex_lock(&wi->lock);
	if (wsfs_inode_stream(inode, &info->stream)) {
		info->flags |= WSFS_FILE_STREAM;
		info->home_agno = wi->home_agno;
	}
	if (test_bit(WSFS_HOMED, &wi->flags))
		info->flags |= WSFS_FILE_HOMED;
	if (test_bit(WSFS_MISSED, &wi->flags))
		info->flags |= WSFS_FILE_MISSED;
	if (test_bit(WSFS_ANCHORED, &wi->flags))
		info->flags |= WSFS_FILE_ANCHORED;
	if ((info->flags & WSFS_FILE_STREAM) &&
	    test_bit(WSFS_BY_HINT, &wi->flags))
		info->flags |= WSFS_FILE_HINT;
	info->dir_how = READ_ONCE(wi->births);
	mutex_unlock(&wi->lock);
}
