// SPDX-License-Identifier: GPL-2.0
/*
 * Open regular files: every operation goes to the open lower file.
 *
 * There is no page cache here, f_mapping is the lower file's; no lock, no work
 * queue and no reference count on the way of a read or write. What makes that
 * safe is the pin: the first write, mapping or allocation pins the lower inode
 * (one atomic bit), and only a lower inode that is not pinned is ever replaced
 * by SET (home.c). An open file that finds its inode moved opens the new lower
 * file and keeps the old one until it is released itself.
 */

#include <linux/backing-file.h>
#include <linux/fsnotify.h>
#include <linux/llist.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include "wsfs.h"

/*
 * Flags of an iocb that say something of the structure around it, not of the
 * I/O: the lower iocb is embedded in something else.
 */
#define WSFS_IOCB_DROP	(IOCB_EVENTFD | IOCB_AIO_RW | WSFS_IOCB_DROP_COMPAT)

/* An asynchronous read or write in the lower */
struct wsfs_aio {
	struct kiocb	iocb;
	struct kiocb	*orig;
};

/* A lower file that was replaced while open */
struct wsfs_old_file {
	struct llist_node	node;
	struct file		*file;
};

static struct kmem_cache *wsfs_aio_cachep;

int __init wsfs_aio_init(void)
{
	/*
	 * Typesafe by RCU: wsfs_iopoll() may look at one that has just
	 * completed.
	 */
	wsfs_aio_cachep = KMEM_CACHE(wsfs_aio, SLAB_HWCACHE_ALIGN |
				     SLAB_TYPESAFE_BY_RCU);
	return wsfs_aio_cachep ? 0 : -ENOMEM;
}

void wsfs_aio_exit(void)
{
	kmem_cache_destroy(wsfs_aio_cachep);
}

/**
 * wsfs_file_alloc() - private data for an open file
 * @lower: the open lower file; its reference is taken over, on failure too
 *
 * Return: the structure, or NULL.
 */
struct wsfs_file *wsfs_file_alloc(struct file *lower)
{
	struct wsfs_file *wf = kzalloc_obj(*wf);

	if (!wf) {
		fput(lower);
		return NULL;
	}
	wf->lower = lower;
	INIT_LIST_HEAD(&wf->node);
	init_llist_head(&wf->old);
	return wf;
}

/**
 * wsfs_file_free() - drop private data and the lower files in it
 * @wf: not in wsfs_inode.files any more
 */
void wsfs_file_free(struct wsfs_file *wf)
{
	struct wsfs_old_file *old, *next;

	llist_for_each_entry_safe(old, next, llist_del_all(&wf->old), node) {
		fput(old->file);
		kfree(old);
	}
	fput(wf->lower);
	kfree(wf);
}

/* Lets the VFS use the lower file's abilities and mapping. */
static void wsfs_file_attach(struct file *file, struct wsfs_file *wf)
{
	struct inode *inode = file_inode(file);
	struct file *lower = wf->lower;

	file->private_data = wf;
	file->f_mode |= lower->f_mode & (FMODE_NOWAIT | FMODE_CAN_ODIRECT |
					 FMODE_CAN_ATOMIC_WRITE);
	if (unlikely(wsfs_file_for_swap(inode, file))) {
		/* What an earlier swapon has read may be old. */
		truncate_inode_pages(inode->i_mapping, 0);
		return;
	}
	/*
	 * By f_mapping memfd.c takes a file for one of tmpfs, and looks for the
	 * seals in file_inode(), which is ours.
	 */
	if (!shmem_mapping(lower->f_mapping))
		file->f_mapping = lower->f_mapping;
	file->f_wb_err = filemap_sample_wb_err(file->f_mapping);
}

/* Opens the inode's lower file as @file was opened. */
static struct file *wsfs_open_lower(struct file *file)
{
	const struct dentry *dentry = file_dentry(file);
	struct path path = {
		.mnt = wsfs_lower_mnt(dentry->d_sb),
		.dentry = wsfs_lower_dentry_get(dentry),
	};
	struct file *lower;

	/*
	 * The access time is decided by the flags of the wsfs mount, see
	 * wsfs_file_accessed().
	 */
	lower = backing_file_open(file, (file->f_flags &
					 ~(O_CREAT | O_EXCL | O_NOCTTY |
					   O_TRUNC)) | O_NOATIME,
				  &path, file->f_cred);
	dput(path.dentry);
	return lower;
}

static bool wsfs_file_moved(const struct file *file, const struct file *lower)
{
	return file_inode(lower) != wsfs_lower_inode(file_inode(file));
}

/*
 * mmap_region() counts a shared mapping on f_mapping before it calls us and takes
 * it off f_mapping afterwards: off another one, if that changes meanwhile. So
 * there has to be something to take, for as many processes as there can be that
 * share the file; the count starts anew with the inode.
 */
static void wsfs_allow_mmaps(struct address_space *mapping)
{
	int count = atomic_read(&mapping->i_mmap_writable);

	while (count < PID_MAX_LIMIT &&
	       !atomic_try_cmpxchg(&mapping->i_mmap_writable, &count,
				   count + 2 * PID_MAX_LIMIT))
		;
}

/*
 * Opens the lower file that the inode has now. Several threads may do so at
 * once for one file; the first wins.
 */
static struct file *wsfs_follow(struct file *file)
{
	struct wsfs_file *wf = file->private_data;
	struct wsfs_old_file *old;
	struct file *lower;

	old = kmalloc_obj(*old);
	if (!old)
		return ERR_PTR(-ENOMEM);
	lower = wsfs_open_lower(file);
	if (IS_ERR(lower)) {
		kfree(old);
		return lower;
	}
	old->file = READ_ONCE(wf->lower);
	if (!wsfs_file_moved(file, old->file) ||
	    cmpxchg(&wf->lower, old->file, lower) != old->file) {
		fput(lower);
		kfree(old);
		return READ_ONCE(wf->lower);
	}
	/* Somebody may still be in there: it stays until release. */
	llist_add(&old->node, &wf->old);
	if (file->f_mapping == old->file->f_mapping) {
		wsfs_allow_mmaps(lower->f_mapping);
		WRITE_ONCE(file->f_mapping, lower->f_mapping);
		file->f_wb_err = filemap_sample_wb_err(lower->f_mapping);
	}
	return lower;
}

/*
 * F_SETFL calls no filesystem. Reads and writes bring its flags along in their
 * iocb; everything else of the lower goes by those of the lower file.
 */
static void wsfs_copy_flags(const struct file *file, struct file *lower)
{
	const unsigned int flags = O_APPEND | O_DIRECT;

	if (likely(!((file->f_flags ^ lower->f_flags) & flags)))
		return;
	spin_lock(&lower->f_lock);
	lower->f_flags = (lower->f_flags & ~flags) | (file->f_flags & flags);
	lower->f_iocb_flags = iocb_flags(lower);
	spin_unlock(&lower->f_lock);
}

static int wsfs_pin(struct wsfs_inode *wi, bool nowait)
{
	for (;;) {
		unsigned long state = READ_ONCE(wi->state);

		if (state & BIT(WSFS_PINNED))
			return 0;
		if (!(state & BIT(WSFS_MOVING))) {
			if (cmpxchg(&wi->state, state,
				    state | BIT(WSFS_PINNED)) == state)
				return 0;
			continue;
		}
		if (nowait)
			return -EAGAIN;
		/*
		 * For one rename in the lower, inside which nothing waits for
		 * mmap_lock: wsfs_mmap() comes here with it held.
		 */
		wait_on_bit(&wi->state, WSFS_MOVING, TASK_UNINTERRUPTIBLE);
	}
}

/**
 * wsfs_file_lower() - the lower file to do an operation on
 * @file: an open wsfs file
 * @pin: the operation may give the file blocks, data or a mapping
 * @nowait: do not wait
 *
 * The file returned stays open until @file is released, and once pinned it is
 * the inode's own for as long. Takes wsfs_inode.lock when the inode has moved
 * and is not pinned.
 *
 * Return: the lower file, not referenced; or an ERR_PTR: EAGAIN with @nowait,
 * ENOMEM or what open returns when the new lower file cannot be opened.
 */
struct file *wsfs_file_lower(struct file *file, bool pin, bool nowait)
{
	struct wsfs_inode *wi = WSFS_I(file_inode(file));
	struct wsfs_file *wf = file->private_data;
	struct file *lower;
	int err;

	if (pin && unlikely(!test_bit_acquire(WSFS_PINNED, &wi->state))) {
		err = wsfs_pin(wi, nowait);
		if (err)
			return ERR_PTR(err);
	}
	lower = READ_ONCE(wf->lower);
	if (likely(!wsfs_file_moved(file, lower)))
		return lower;
	if (nowait)
		return ERR_PTR(-EAGAIN);
	if (pin)
		return wsfs_follow(file);

	/* Not pinned: SET must not count the open files meanwhile. */
	mutex_lock(&wi->lock);
	lower = wsfs_follow(file);
	mutex_unlock(&wi->lock);
	return lower;
}

static int wsfs_file_open(struct inode *inode, struct file *file)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	struct wsfs_file *wf = file->private_data;	/* O_TMPFILE */
	struct file *lower;
	int err = 0;

	mutex_lock(&wi->lock);
	if (!wf) {
		lower = wsfs_open_lower(file);
		if (IS_ERR(lower)) {
			err = PTR_ERR(lower);
			goto out;
		}
		wf = wsfs_file_alloc(lower);
		if (!wf) {
			err = -ENOMEM;
			goto out;
		}
	}
	wsfs_file_attach(file, wf);
	if (list_empty(&wi->files)) {
		/* Nobody is left who relies on the pin. */
		clear_bit(WSFS_PINNED, &wi->state);
		wi->moves = 0;
	}
	list_add(&wf->node, &wi->files);
out:
	mutex_unlock(&wi->lock);
	if (!err)
		wsfs_copy_attr(inode);
	return err;
}

static int wsfs_file_release(struct inode *inode, struct file *file)
{
	struct wsfs_inode *wi = WSFS_I(inode);
	struct wsfs_file *wf = file->private_data;

	if (file->f_mode & FMODE_WRITE)
		wsfs_steer_check(inode, wf->lower, true);
	mutex_lock(&wi->lock);
	list_del(&wf->node);
	mutex_unlock(&wi->lock);
	wsfs_file_free(wf);
	return 0;
}

/**
 * wsfs_file_accessed() - a file or directory has been read
 * @file: the wsfs file
 *
 * The lower file is open with O_NOATIME; whether the access time is due is
 * decided here by the flags of the wsfs mount, by the lower's in
 * wsfs_update_time().
 */
void wsfs_file_accessed(struct file *file)
{
	struct inode *inode = file_inode(file);
	const struct inode *lower;
	struct timespec64 ours, theirs;

	if (file->f_flags & O_NOATIME)
		return;
	/* relatime compares with these. */
	rcu_read_lock();
	lower = wsfs_lower_inode(inode);
	ours = inode_get_mtime(inode);
	theirs = inode_get_mtime(lower);
	if (unlikely(!timespec64_equal(&ours, &theirs)))
		inode_set_mtime_to_ts(inode, theirs);
	ours = inode_get_ctime(inode);
	theirs = inode_get_ctime(lower);
	if (unlikely(!timespec64_equal(&ours, &theirs)))
		inode_set_ctime_to_ts(inode, theirs);
	rcu_read_unlock();
	touch_atime(&file->f_path);
}

/**
 * wsfs_written() - data has been written
 * @inode: the wsfs inode
 * @lower: its lower inode
 * @ret: bytes, or an error
 *
 * Runs in whatever context the lower completes in.
 */
void wsfs_written(struct inode *inode, struct inode *lower, long ret)
{
	wsfs_copy_size(inode, lower);
	if (ret > 0)
		wsfs_steer_written(inode, ret);
}

/*
 * setuid and setgid go when a write is submitted. Not for completion: i_lock is
 * not safe from interrupts.
 */
static void wsfs_copy_mode(struct inode *inode, const struct inode *lower)
{
	if (unlikely(inode->i_mode != READ_ONCE(lower->i_mode)))
		wsfs_copy_attr(inode);
}

/**
 * wsfs_iocb_init() - an iocb for the lower
 * @iocb: the lower's, to be filled in; without a completion it is synchronous
 * @orig: the caller's
 * @lower: the lower file
 */
void wsfs_iocb_init(struct kiocb *iocb, struct kiocb *orig, struct file *lower)
{
	kiocb_clone(iocb, orig, lower);
	iocb->ki_flags &= ~WSFS_IOCB_DROP;
	wsfs_kiocb_clone_rest(iocb, orig);
}

/*
 * Called in whatever context the lower completes in, interrupts included.
 * Nobody touches the wsfs_aio after the lower has taken it, so it is freed
 * here without a count.
 */
static struct kiocb *wsfs_aio_end(struct wsfs_aio *aio)
{
	struct kiocb *orig = aio->orig;

	orig->ki_pos = aio->iocb.ki_pos;
	kmem_cache_free(wsfs_aio_cachep, aio);
	return orig;
}

static void wsfs_read_complete(struct kiocb *iocb, long ret)
{
	struct kiocb *orig = wsfs_aio_end(container_of(iocb, struct wsfs_aio,
						       iocb));

	orig->ki_complete(orig, ret);
}

static void wsfs_write_complete(struct kiocb *iocb, long ret)
{
	struct inode *lower = file_inode(iocb->ki_filp);
	struct kiocb *orig;

	/* Pairs with kiocb_start_write() in vfs_iocb_iter_write(). */
	kiocb_end_write(iocb);
	orig = wsfs_aio_end(container_of(iocb, struct wsfs_aio, iocb));
	wsfs_written(file_inode(orig->ki_filp), lower, ret);
	orig->ki_complete(orig, ret);
}

static struct wsfs_aio *wsfs_aio_start(struct kiocb *orig, struct file *lower)
{
	struct wsfs_aio *aio;

	/* The one allocation on the I/O path: the lower needs an iocb. */
	aio = kmem_cache_alloc(wsfs_aio_cachep, orig->ki_flags & IOCB_NOWAIT ?
			       GFP_NOWAIT | __GFP_NOWARN : GFP_KERNEL);
	if (!aio)
		return ERR_PTR(orig->ki_flags & IOCB_NOWAIT ? -EAGAIN :
							      -ENOMEM);
	wsfs_iocb_init(&aio->iocb, orig, lower);
	aio->orig = orig;
	return aio;
}

static ssize_t wsfs_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct file *file = iocb->ki_filp;
	struct wsfs_aio *aio;
	struct kiocb sync;
	struct file *lower;
	ssize_t ret;

	lower = wsfs_file_lower(file, false, iocb->ki_flags & IOCB_NOWAIT);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	if (wsfs_dontcache_refused(iocb, lower))
		return -EOPNOTSUPP;

	/*
	 * IOCB_WAITQ is a buffered read by io_uring. The lower keeps no iocb
	 * then: where it says EIOCBQUEUED nothing is completed, but io_uring
	 * comes again once the page is there, perhaps before we return.
	 */
	if (is_sync_kiocb(iocb) || (iocb->ki_flags & IOCB_WAITQ)) {
		wsfs_iocb_init(&sync, iocb, lower);
		ret = vfs_iocb_iter_read(lower, &sync, iter);
		if (ret != -EIOCBQUEUED)
			iocb->ki_pos = sync.ki_pos;
	} else {
		aio = wsfs_aio_start(iocb, lower);
		if (IS_ERR(aio))
			return PTR_ERR(aio);
		aio->iocb.ki_complete = wsfs_read_complete;
		WRITE_ONCE(iocb->private, aio);	/* for wsfs_iopoll() */
		ret = vfs_iocb_iter_read(lower, &aio->iocb, iter);
		if (ret != -EIOCBQUEUED)
			wsfs_aio_end(aio);
	}
	if (ret >= 0 || ret == -EIOCBQUEUED)
		wsfs_file_accessed(file);
	return ret;
}

static ssize_t wsfs_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct file *file = iocb->ki_filp;
	struct inode *inode = file_inode(file);
	struct wsfs_aio *aio;
	struct kiocb sync;
	struct file *lower;
	ssize_t ret;

	/* Before the pin: an empty file moves. */
	if (unlikely(wsfs_hint_is_due(inode))) {
		ret = wsfs_steer_hint(file, iocb->ki_flags & IOCB_NOWAIT);
		if (ret)
			return ret;
	}
	lower = wsfs_file_lower(file, true, iocb->ki_flags & IOCB_NOWAIT);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	if (wsfs_dontcache_refused(iocb, lower))
		return -EOPNOTSUPP;
	/* vfs_iocb_iter_write() waits for a thaw in any case. */
	if ((iocb->ki_flags & IOCB_NOWAIT) &&
	    wsfs_lower_frozen(file_inode(lower)->i_sb))
		return -EAGAIN;
	if (unlikely(READ_ONCE(inode->i_write_hint) |
		     READ_ONCE(file_inode(lower)->i_write_hint)))
		wsfs_steer_sync_hint(inode, file_inode(lower));

	if (unlikely(wsfs_is_armed(inode))) {
		ret = wsfs_anchor_write(inode, lower,
					iocb->ki_flags & IOCB_NOWAIT);
		if (ret)
			return ret;
	}
	if (unlikely(wsfs_is_subblock(iocb, iter, inode)) &&
	    wsfs_subblock_write(iocb, iter, lower, &ret))
		goto out;
	if (is_sync_kiocb(iocb)) {
		wsfs_iocb_init(&sync, iocb, lower);
		ret = vfs_iocb_iter_write(lower, &sync, iter);
		iocb->ki_pos = sync.ki_pos;
	} else {
		aio = wsfs_aio_start(iocb, lower);
		if (IS_ERR(aio))
			return PTR_ERR(aio);
		aio->iocb.ki_complete = wsfs_write_complete;
		WRITE_ONCE(iocb->private, aio);	/* for wsfs_iopoll() */
		ret = vfs_iocb_iter_write(lower, &aio->iocb, iter);
		if (ret != -EIOCBQUEUED)
			wsfs_aio_end(aio);
	}
out:
	/* The caller's reference to @file keeps @lower, queued or not. */
	wsfs_copy_mode(inode, file_inode(lower));
	if (ret != -EIOCBQUEUED)
		wsfs_written(inode, file_inode(lower), ret);
	return ret;
}

/*
 * Polls for the lower iocb that stands for @iocb. It may have completed, and
 * its memory may be another wsfs_aio by now: polling for that one instead does
 * no harm (compare iocb_bio_iopoll()).
 */
static int wsfs_iopoll(struct kiocb *iocb, struct io_comp_batch *iob,
		       unsigned int flags)
{
	struct wsfs_file *wf = iocb->ki_filp->private_data;
	struct file *lower = READ_ONCE(wf->lower);
	struct wsfs_aio *aio;
	int ret = 0;

	if (!lower->f_op->iopoll)
		return -EOPNOTSUPP;
	rcu_read_lock();
	aio = READ_ONCE(iocb->private);
	if (aio)
		ret = lower->f_op->iopoll(&aio->iocb, iob, flags);
	rcu_read_unlock();
	return ret;
}

/*
 * Seeking by data and holes is the lower's; the position of a wsfs file is the
 * wsfs file's own, so that no lock is needed for the lower's.
 */
static loff_t wsfs_llseek(struct file *file, loff_t offset, int whence)
{
	struct file *lower = wsfs_file_lower(file, false, false);
	const struct inode *lower_inode;

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	lower_inode = file_inode(lower);
	if (whence == SEEK_DATA || whence == SEEK_HOLE) {
		offset = vfs_llseek(lower, offset, whence);
		if (offset < 0)
			return offset;
		return vfs_setpos(file, offset, lower_inode->i_sb->s_maxbytes);
	}
	return generic_file_llseek_size(file, offset, whence,
					lower_inode->i_sb->s_maxbytes,
					i_size_read(lower_inode));
}

static int wsfs_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct inode *inode = file_inode(file);
	struct file *lower = wsfs_file_lower(file, false, false);
	int err;

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	err = vfs_fsync_range(lower, start, end, datasync);
	if (!err)
		wsfs_steer_check(inode, lower, false);
	return err;
}

static int wsfs_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct file *lower = wsfs_file_lower(file, true, false);
	struct backing_file_ctx ctx = {
		.cred = file->f_cred,
		.accessed = wsfs_file_accessed,
	};

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	/* The VFS has asked wsfs, which says what XFS can. */
	if ((vma->vm_flags & VM_SYNC) &&
	    !(lower->f_op->fop_flags & FOP_MMAP_SYNC))
		return -EOPNOTSUPP;
	wsfs_backing_ctx_init(&ctx, file);
	return backing_file_mmap(lower, vma, &ctx);
}

static unsigned long wsfs_get_unmapped_area(struct file *file,
					    unsigned long addr,
					    unsigned long len,
					    unsigned long pgoff,
					    unsigned long flags)
{
	const struct wsfs_file *wf = file->private_data;
	struct file *lower = READ_ONCE(wf->lower);

	/* So that large folios of the lower can be mapped by huge entries. */
	if (lower->f_op->get_unmapped_area)
		return lower->f_op->get_unmapped_area(lower, addr, len, pgoff,
						      flags);
	return mm_get_unmapped_area(file, addr, len, pgoff, flags);
}

static long wsfs_fallocate(struct file *file, int mode, loff_t offset,
			   loff_t len)
{
	struct inode *inode = file_inode(file);
	struct file *lower;
	long ret;

	if (unlikely(wsfs_hint_is_due(inode)))
		wsfs_steer_hint(file, false);
	lower = wsfs_file_lower(file, true, false);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	wsfs_steer_sync_hint(inode, file_inode(lower));
	/* Not between the pieces of a write; see subblock.c. */
	inode_lock(inode);
	ret = vfs_fallocate(lower, mode, offset, len);
	/* It is the user's from now on. */
	clear_bit(WSFS_TRIM, &WSFS_I(inode)->flags);
	inode_unlock(inode);
	wsfs_copy_attr(inode);
	return ret;
}

static int wsfs_fadvise(struct file *file, loff_t offset, loff_t len,
			int advice)
{
	struct file *lower = wsfs_file_lower(file, false, false);

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	return vfs_fadvise(lower, offset, len, advice);
}

static int wsfs_flush(struct file *file, fl_owner_t id)
{
	const struct wsfs_file *wf = file->private_data;
	struct file *lower = READ_ONCE(wf->lower);

	return lower->f_op->flush ? lower->f_op->flush(lower, id) : 0;
}

static ssize_t wsfs_splice_read(struct file *in, loff_t *ppos,
				struct pipe_inode_info *pipe, size_t len,
				unsigned int flags)
{
	struct file *lower = wsfs_file_lower(in, false, false);
	ssize_t ret;

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	wsfs_copy_flags(in, lower);
	ret = vfs_splice_read(lower, ppos, pipe, len, flags);
	wsfs_file_accessed(in);
	return ret;
}

/*
 * Not iter_file_splice_write() on the wsfs file: it holds the pipe's mutex
 * round our write_iter, which takes the lower's freeze protection, and other
 * paths nest these the other way round (compare backing_file_splice_write()).
 */
static ssize_t wsfs_splice_write(struct pipe_inode_info *pipe,
				 struct file *out, loff_t *ppos, size_t len,
				 unsigned int flags)
{
	struct file *lower;
	ssize_t ret;

	if (unlikely(wsfs_hint_is_due(file_inode(out))))
		wsfs_steer_hint(out, false);
	lower = wsfs_file_lower(out, true, false);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	if (!lower->f_op->splice_write)
		return -EINVAL;
	if (unlikely(wsfs_is_armed(file_inode(out))))
		wsfs_anchor_write(file_inode(out), lower, false);
	wsfs_copy_flags(out, lower);
	file_start_write(lower);
	ret = lower->f_op->splice_write(pipe, lower, ppos, len, flags);
	file_end_write(lower);
	wsfs_copy_mode(file_inode(out), file_inode(lower));
	wsfs_written(file_inode(out), file_inode(lower), ret);
	return ret;
}

static ssize_t wsfs_copy_file_range(struct file *in, loff_t pos_in,
				    struct file *out, loff_t pos_out,
				    size_t len, unsigned int flags)
{
	struct file *lower_in, *lower_out;
	ssize_t ret;

	if (unlikely(wsfs_hint_is_due(file_inode(out))))
		wsfs_steer_hint(out, false);
	lower_out = wsfs_file_lower(out, true, false);
	if (IS_ERR(lower_out))
		return PTR_ERR(lower_out);
	lower_in = wsfs_file_lower(in, false, false);
	if (IS_ERR(lower_in))
		return PTR_ERR(lower_in);
	wsfs_copy_flags(out, lower_out);
	ret = vfs_copy_file_range(lower_in, pos_in, lower_out, pos_out, len,
				  flags);
	/* Whole blocks are not copied but shared. */
	if (ret > 0 && IS_ALIGNED(pos_in | pos_out,
				  i_blocksize(file_inode(lower_out))))
		wsfs_steer_shared(file_inode(out), pos_out + ret);
	wsfs_copy_mode(file_inode(out), file_inode(lower_out));
	wsfs_written(file_inode(out), file_inode(lower_out), ret);
	return ret;
}

static loff_t wsfs_remap_file_range(struct file *in, loff_t pos_in,
				    struct file *out, loff_t pos_out,
				    loff_t len, unsigned int remap_flags)
{
	struct file *lower_in, *lower_out;
	loff_t ret;

	if (remap_flags & ~(REMAP_FILE_DEDUP | REMAP_FILE_ADVISORY))
		return -EINVAL;
	lower_out = wsfs_file_lower(out, true, false);
	if (IS_ERR(lower_out))
		return PTR_ERR(lower_out);
	lower_in = wsfs_file_lower(in, false, false);
	if (IS_ERR(lower_in))
		return PTR_ERR(lower_in);
	wsfs_copy_flags(out, lower_out);
	if (remap_flags & REMAP_FILE_DEDUP) {
		ret = vfs_dedupe_file_range_one(lower_in, pos_in, lower_out,
						pos_out, len, remap_flags);
	} else {
		/* Not between the pieces of a write; see subblock.c. */
		inode_lock(file_inode(out));
		ret = vfs_clone_file_range(lower_in, pos_in, lower_out, pos_out,
					   len, remap_flags);
		inode_unlock(file_inode(out));
		wsfs_copy_attr(file_inode(out));
	}
	if (ret > 0)
		wsfs_steer_shared(file_inode(out), pos_out + ret);
	return ret;
}

const struct file_operations wsfs_file_fops = {
	.owner			= THIS_MODULE,
	.open			= wsfs_file_open,
	.release		= wsfs_file_release,
	.llseek			= wsfs_llseek,
	.read_iter		= wsfs_read_iter,
	.write_iter		= wsfs_write_iter,
	.iopoll			= wsfs_iopoll,
	.fsync			= wsfs_fsync,
	.mmap			= wsfs_mmap,
	.get_unmapped_area	= wsfs_get_unmapped_area,
	.fallocate		= wsfs_fallocate,
	.fadvise		= wsfs_fadvise,
	.flush			= wsfs_flush,
	.splice_read		= wsfs_splice_read,
	.splice_write		= wsfs_splice_write,
	.copy_file_range	= wsfs_copy_file_range,
	.remap_file_range	= wsfs_remap_file_range,
	.setlease		= generic_setlease,
	.unlocked_ioctl		= wsfs_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl		= wsfs_compat_ioctl,
#endif
	/* What XFS can do; wsfs_mmap() and a lower that cannot refuse. */
	.fop_flags		= FOP_MMAP_SYNC | FOP_BUFFER_RASYNC |
				  FOP_BUFFER_WASYNC | FOP_DIO_PARALLEL_WRITE |
				  WSFS_FOP_DONTCACHE,
};
