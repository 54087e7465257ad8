// SPDX-License-Identifier: GPL-2.0
/*
 * Direct writes of parts of blocks that reach from one extent into another.
 *
 * XFS runs a direct write that does not begin or end with a block in parallel
 * with others only where one written extent takes all of it. Else it waits for
 * everything that is under way on the file and lets nothing else begin. Where
 * the write only crosses from one written extent into the next, each side by
 * itself could have run in parallel. So a write that covers more than one block
 * is tried without waiting first, and where XFS says EAGAIN it is issued again
 * in pieces, cut where the extents meet, and all of them under way at once.
 * Whatever a piece meets that cannot be done in parallel, XFS does its own way:
 * the piece is issued again as one that may wait. No piece is written twice.
 *
 * To the caller it is one write: one completion, one count. As in XFS, a write
 * of which a part has failed has failed.
 */

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "trace.h"
#include "wsfs.h"

/* A write over more extents is left to XFS. */
#define WSFS_PIECES_MAX	4

struct wsfs_pieces;

/**
 * struct wsfs_piece - a part of the write
 * @iocb: the lower's
 * @all: the write
 * @size: bytes of it
 * @ret: what the lower said in the end
 */
struct wsfs_piece {
	struct kiocb		iocb;
	struct wsfs_pieces	*all;
	size_t			size;
	ssize_t			ret;
};

/**
 * struct wsfs_pieces - the write
 * @orig: the caller's iocb
 * @pending: pieces under way, and one for who issues them
 * @nr: pieces issued
 * @kept: what the first pieces have written stays written when a later one
 *	fails: the lower went through the page cache
 * @queued: some piece completes later
 * @done: for a caller who waits
 * @piece: the pieces, in the order of the file
 */
struct wsfs_pieces {
	struct kiocb		*orig;
	atomic_t		pending;
	unsigned int		nr;
	bool			kept;
	bool			queued;
	struct completion	done;
	struct wsfs_piece	piece[WSFS_PIECES_MAX];
};

static ssize_t wsfs_pieces_result(const struct wsfs_pieces *all)
{
	ssize_t sum = 0;
	unsigned int i;

	for (i = 0; i < all->nr; i++) {
		const struct wsfs_piece *piece = &all->piece[i];

		if (piece->ret < 0)
			return all->kept && sum ? sum : piece->ret;
		sum += piece->ret;
		if (piece->ret < piece->size)
			break;
	}
	return sum;
}

/* The last piece has come back. @all is gone afterwards if it was allocated. */
static ssize_t wsfs_pieces_end(struct wsfs_pieces *all)
{
	struct kiocb *orig = all->orig;
	ssize_t ret = wsfs_pieces_result(all);

	if (ret > 0)
		orig->ki_pos += ret;
	if (!is_sync_kiocb(orig))
		kfree(all);
	return ret;
}

/* In whatever context the lower completes in */
static void wsfs_piece_complete(struct kiocb *iocb, long ret)
{
	struct wsfs_piece *piece = container_of(iocb, struct wsfs_piece, iocb);
	struct inode *lower = file_inode(iocb->ki_filp);
	struct wsfs_pieces *all = piece->all;
	struct kiocb *orig = all->orig;

	/* Pairs with kiocb_start_write() in vfs_iocb_iter_write(). */
	kiocb_end_write(iocb);
	piece->ret = ret;
	if (!atomic_dec_and_test(&all->pending))
		return;
	if (is_sync_kiocb(orig)) {
		complete(&all->done);
		return;
	}
	ret = wsfs_pieces_end(all);
	wsfs_written(file_inode(orig->ki_filp), lower, ret);
	orig->ki_complete(orig, ret);
}

/* One call to the lower, for @size bytes from @offset on in @iter */
static ssize_t wsfs_piece_try(struct wsfs_piece *piece, struct file *lower,
			      const struct iov_iter *iter, size_t offset,
			      size_t size, int flags)
{
	struct kiocb *orig = piece->all->orig;
	struct iov_iter part = *iter;
	ssize_t ret;

	iov_iter_advance(&part, offset);
	iov_iter_truncate(&part, size);
	piece->size = size;
	wsfs_iocb_init(&piece->iocb, orig, lower);
	piece->iocb.ki_pos = orig->ki_pos + offset;
	/*
	 * XFS polls for writes of one bio only; and a polled one that does not
	 * wait may get EAGAIN from a full queue when it is too late to wait.
	 */
	piece->iocb.ki_flags &= ~IOCB_HIPRI;
	piece->iocb.ki_flags |= flags;
	piece->iocb.ki_complete = wsfs_piece_complete;
	atomic_inc(&piece->all->pending);
	ret = vfs_iocb_iter_write(lower, &piece->iocb, &part);
	if (ret == -EIOCBQUEUED) {
		piece->all->queued = true;
	} else {
		piece->ret = ret;
		atomic_dec(&piece->all->pending);
	}
	return ret;
}

/* Issues the next piece, in parallel mode if XFS can. */
static ssize_t wsfs_piece_issue(struct wsfs_pieces *all, struct file *lower,
				const struct iov_iter *iter, size_t offset,
				size_t size, bool nowait)
{
	struct wsfs_piece *piece = &all->piece[all->nr++];
	ssize_t ret = -EAGAIN;

	piece->all = all;
	if (nowait)
		ret = wsfs_piece_try(piece, lower, iter, offset, size,
				     IOCB_NOWAIT);
	nowait = ret != -EAGAIN;
	if (!nowait)
		ret = wsfs_piece_try(piece, lower, iter, offset, size, 0);
	trace_wsfs_piece(file_inode(all->orig->ki_filp),
			 all->orig->ki_pos + offset, size, nowait);
	return ret;
}

static sector_t wsfs_written_block(struct inode *lower, sector_t block)
{
	return bmap(lower, &block) ? 0 : block;
}

/*
 * The first block after @first, up to @last, that does not follow on the disk
 * the one before it; 0 where something is not a written extent.
 */
static sector_t wsfs_extent_end(struct inode *lower, sector_t first,
				sector_t last)
{
	sector_t start = wsfs_written_block(lower, first);
	sector_t in = first, out = last + 1, at = last;

	if (!start)
		return 0;
	/* The last one first: all may be one extent. */
	while (out - in > 1) {
		sector_t block = wsfs_written_block(lower, at);

		if (!block)
			return 0;
		if (block - start == at - first)
			in = at;
		else
			out = at;
		at = in + (out - in) / 2;
	}
	return out;
}

/*
 * Where to cut: fills in the ends of the pieces, as offsets in the write.
 * Nothing here has to be right by the time the pieces are issued.
 */
static unsigned int wsfs_cut(struct inode *lower, loff_t pos, size_t count,
			     size_t *end)
{
	sector_t first = pos >> lower->i_blkbits;
	sector_t last = (pos + count - 1) >> lower->i_blkbits;
	unsigned int nr = 0;

	/* bmap() would write back all of the file. */
	if (mapping_tagged(lower->i_mapping, PAGECACHE_TAG_DIRTY) ||
	    mapping_tagged(lower->i_mapping, PAGECACHE_TAG_WRITEBACK))
		return 0;
	while (first <= last) {
		if (nr == WSFS_PIECES_MAX)
			return 0;
		first = wsfs_extent_end(lower, first, last);
		if (!first)
			return 0;
		end[nr++] = min_t(loff_t, ((loff_t)first << lower->i_blkbits) -
				  pos, count);
	}
	return nr;
}

/*
 * Issues what was not written by the first try. Returns false when there is
 * nothing to gain by pieces.
 */
static bool wsfs_issue_pieces(struct wsfs_pieces *all, struct file *lower,
			      const struct iov_iter *iter)
{
	struct kiocb *orig = all->orig;
	struct inode *inode = file_inode(orig->ki_filp);
	size_t count = iov_iter_count(iter), offset = 0;
	size_t end[WSFS_PIECES_MAX];
	unsigned int nr, i;
	ssize_t ret;

	nr = wsfs_cut(file_inode(lower), orig->ki_pos, count, end);
	if (nr < 2)
		return false;
	/* No truncate, no SET, and nothing that frees blocks in between. */
	inode_lock_shared(inode);
	trace_wsfs_subblock(inode, orig->ki_pos, count, nr);
	for (i = 0; i < nr; i++) {
		size_t size = end[i] - offset;

		ret = wsfs_piece_issue(all, lower, iter, offset, size, true);
		if (ret != -EIOCBQUEUED && ret != size)
			break;
		offset = end[i];
	}
	inode_unlock_shared(inode);
	return true;
}

/* Can it be in parallel mode, and does it need our help for that? */
static bool wsfs_worth_pieces(const struct kiocb *iocb, size_t count,
			      const struct file *lower)
{
	const struct inode *lower_inode = file_inode(lower);
	loff_t end = iocb->ki_pos + count;

	if (iocb->ki_flags & (IOCB_NOWAIT | IOCB_APPEND | IOCB_ATOMIC))
		return false;
	return iocb->ki_pos >> lower_inode->i_blkbits !=
			(end - 1) >> lower_inode->i_blkbits &&
	       end < i_size_read(lower_inode) &&
	       (lower->f_mode & FMODE_NOWAIT) &&
	       lower_inode->i_sb->s_magic == XFS_SUPER_MAGIC;
}

/**
 * wsfs_subblock_write() - a direct write of parts of blocks
 * @iocb: the caller's
 * @iter: what to write
 * @lower: the lower file, pinned
 * @ret: returns what write_iter is to return
 *
 * Takes the i_rwsem of the wsfs inode shared while it issues pieces.
 *
 * Return: false if nothing was done and the write is to go the ordinary way.
 */
bool wsfs_subblock_write(struct kiocb *iocb, struct iov_iter *iter,
			 struct file *lower, ssize_t *ret)
{
	struct wsfs_pieces on_stack, *all = &on_stack;
	size_t count = iov_iter_count(iter);
	bool sync = is_sync_kiocb(iocb);
	ssize_t first;

	if (!count || !wsfs_worth_pieces(iocb, count, lower))
		return false;
	if (!sync) {
		all = kmalloc_obj(*all);
		if (!all)
			return false;
		WRITE_ONCE(iocb->private, NULL);	/* for wsfs_iopoll() */
	}
	all->orig = iocb;
	all->nr = 1;
	all->kept = false;
	all->queued = false;
	all->piece[0].all = all;
	atomic_set(&all->pending, 1);
	init_completion(&all->done);

	first = wsfs_piece_try(&all->piece[0], lower, iter, 0, count,
			       IOCB_NOWAIT);
	if (first == -EAGAIN) {
		all->nr = 0;
		if (!wsfs_issue_pieces(all, lower, iter)) {
			if (!sync)
				kfree(all);
			return false;
		}
	} else if (first > 0 && first < count) {
		/* The page cache took as much as it could without waiting. */
		all->piece[0].size = first;
		all->kept = true;
		wsfs_piece_issue(all, lower, iter, first, count - first, false);
	}

	/* Before the last completion: after it @iter is the caller's. */
	iov_iter_advance(iter, count);
	if (all->queued && !atomic_dec_and_test(&all->pending)) {
		if (!sync) {
			*ret = -EIOCBQUEUED;
			return true;
		}
		wait_for_completion_io(&all->done);
	}
	*ret = wsfs_pieces_end(all);
	if (*ret < (ssize_t)count)
		iov_iter_revert(iter, count - max(*ret, 0));
	return true;
}
