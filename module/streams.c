// SPDX-License-Identifier: GPL-2.0
/*
 * Write streams: reservation and stream fds.
 *
 * A reservation is a file. Its private_data is a struct ws_stream that names
 * the pool and the token; ->release of the last copy gives the stream back.
 * So dup, fork and SCM_RIGHTS, exit and crash all do the right thing without
 * another line of code.
 *
 * Life times: the owner holds a reference to the pool and so does each stream
 * file, because a descriptor may well outlive the filesystem it came from. What
 * the files keep alive is the pool alone. ws_pool_kill() cuts it off from its
 * owner: no callback runs from then on, and @private is the owner's to free.
 *
 * Which stream: the lowest free id. It is easy to predict, and no stale user
 * of a reused id exists who would profit from a rest: references carry the
 * reservation's own token.
 */

#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "streams.h"

/* One reservation; private_data of its file, constant once the fd exists. */
struct ws_stream {
	struct ws_pool		*pool;
	struct ws_stream_ref	ref;
};

static_assert(WS_STREAMS_MAX == 1 << WS_STREAM_ID_BITS);

/**
 * ws_pool_alloc() - make a pool with all streams free
 * @nr: number of streams, 0 to %WS_STREAMS_MAX
 * @ops: the owner's callbacks, or NULL; has to stay until ws_pool_kill()
 * @private: for the owner's use
 *
 * Context: may sleep.
 * Return: the pool with one reference, to be given back by ws_pool_kill()
 * first and ws_pool_put() then; or an ERR_PTR.
 */
struct ws_pool *ws_pool_alloc(u32 nr, const struct ws_pool_ops *ops,
			      void *private)
{
	struct ws_pool *pool;

	if (nr > WS_STREAMS_MAX)
		return ERR_PTR(-EINVAL);

	pool = kvzalloc_flex(*pool, token, nr);
	if (!pool)
		return ERR_PTR(-ENOMEM);

	refcount_set(&pool->ref, 1);
	spin_lock_init(&pool->lock);
	pool->ops = ops;
	pool->private = private;
	pool->nr = nr;
	return pool;
}

/**
 * ws_pool_get() - take one more reference
 * @pool: a pool the caller has a reference to
 *
 * Return: @pool.
 */
struct ws_pool *ws_pool_get(struct ws_pool *pool)
{
	refcount_inc(&pool->ref);
	return pool;
}

/**
 * ws_pool_put() - give a reference back
 * @pool: the pool, gone with the last reference; NULL does nothing
 */
void ws_pool_put(struct ws_pool *pool)
{
	if (pool && refcount_dec_and_test(&pool->ref))
		kvfree(pool);
}

/**
 * ws_pool_kill() - part a pool from its owner
 * @pool: the pool
 *
 * For unmount. When this returns no callback is running, and none will be
 * called. Stream files that are still open stay harmless: their streams are
 * released as ever, and nobody can use them with another pool.
 */
void ws_pool_kill(struct ws_pool *pool)
{
	spin_lock(&pool->lock);
	pool->dead = true;
	pool->ops = NULL;
	pool->private = NULL;
	spin_unlock(&pool->lock);
}

/**
 * ws_pool_set_aside() - keep streams for the owner's own use
 * @pool: a pool that nobody else knows yet
 * @nr: how many, not more than it has
 *
 * The last @nr streams count as reserved from now on, and are never offered.
 * See ws_pool_aside_ref().
 */
void ws_pool_set_aside(struct ws_pool *pool, u32 nr)
{
	u32 id;

	for (id = pool->nr - nr; id < pool->nr; id++)
		pool->token[id] = ++pool->seq << WS_STREAM_ID_BITS | id;
	pool->nr_reserved += nr;
	pool->aside = nr;
}

/* Cannot fail halfway: the last step of an ALLOC before its fd is installed. */
static int ws_stream_reserve(struct ws_stream *ws)
{
	struct ws_pool *pool = ws->pool;
	int err = 0;
	u32 id;

	spin_lock(&pool->lock);
	for (id = 0; id < pool->nr; id++)
		if (!pool->token[id])
			break;

	if (pool->dead) {
		err = -EOPNOTSUPP;
	} else if (id == pool->nr) {
		err = -ENOSPC;
	} else {
		ws->ref.token = ++pool->seq << WS_STREAM_ID_BITS | id;
		WRITE_ONCE(pool->token[id], ws->ref.token);
		WRITE_ONCE(pool->nr_reserved, pool->nr_reserved + 1);
		if (pool->ops && pool->ops->reserved)
			pool->ops->reserved(pool, id);
	}
	spin_unlock(&pool->lock);
	return err;
}

static void ws_stream_unreserve(struct ws_stream *ws)
{
	struct ws_pool *pool = ws->pool;
	u32 id = ws_stream_ref_id(ws->ref);

	spin_lock(&pool->lock);
	WRITE_ONCE(pool->token[id], 0);
	WRITE_ONCE(pool->nr_reserved, pool->nr_reserved - 1);
	if (pool->ops && pool->ops->released)
		pool->ops->released(pool, id);
	spin_unlock(&pool->lock);
}

static int ws_stream_release(struct inode *inode, struct file *file)
{
	struct ws_stream *ws = file->private_data;

	/* An ALLOC that found no free stream leaves a file without one. */
	if (!ws_stream_ref_none(ws->ref))
		ws_stream_unreserve(ws);
	ws_pool_put(ws->pool);
	kfree(ws);
	return 0;
}

static void ws_stream_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct ws_stream *ws = file->private_data;
	struct ws_pool *pool = ws->pool;
	u32 id = ws_stream_ref_id(ws->ref);

	seq_printf(m, "stream:\t%u\n", id);

	spin_lock(&pool->lock);
	if (pool->ops && pool->ops->show_fdinfo)
		pool->ops->show_fdinfo(m, pool, id);
	spin_unlock(&pool->lock);
}

static const struct file_operations ws_stream_fops = {
	.owner		= THIS_MODULE,
	.release	= ws_stream_release,
	.show_fdinfo	= ws_stream_show_fdinfo,
};

static struct file *ws_stream_file(struct ws_pool *pool)
{
	struct ws_stream *ws;
	struct file *file;

	ws = kzalloc_obj(*ws, GFP_KERNEL_ACCOUNT);
	if (!ws)
		return ERR_PTR(-ENOMEM);
	ws->pool = ws_pool_get(pool);

	file = anon_inode_getfile("[write_stream]", &ws_stream_fops, ws,
				  O_RDONLY | O_CLOEXEC);
	if (IS_ERR(file)) {
		ws_pool_put(pool);
		kfree(ws);
	}
	return file;
}

/**
 * ws_stream_alloc_fd() - reserve a free stream for the calling process
 * @pool: the pool to take it from
 *
 * The whole of FS_IOC_WRITE_STREAM_ALLOC. Everything that can fail comes before
 * the reservation, so a failed call was never seen by ops or by other callers.
 *
 * Context: process context with a table of files, may sleep.
 * Return: a close-on-exec fd, or
 * * %-EPERM - no CAP_SYS_ADMIN in the initial user namespace
 * * %-EOPNOTSUPP - the pool has no streams, or no owner any more
 * * %-ENOSPC - all of them are reserved
 * * %-EMFILE, %-ENFILE, %-ENOMEM - no room for one more fd
 */
int ws_stream_alloc_fd(struct ws_pool *pool)
{
	struct file *file;
	int err;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (!ws_pool_nr_offered(pool))
		return -EOPNOTSUPP;

	CLASS(get_unused_fd, fd)(O_CLOEXEC);
	if (fd < 0)
		return fd;

	file = ws_stream_file(pool);
	if (IS_ERR(file))
		return PTR_ERR(file);

	err = ws_stream_reserve(file->private_data);
	if (err) {
		fput(file);
		return err;
	}

	fd_install(fd, file);
	return take_fd(fd);
}

/**
 * ws_stream_fget() - look up the stream of an fd
 * @pool: the pool it has to come from
 * @fd: the fd
 * @ref: where to store the reference; untouched on error
 *
 * Context: process context with a table of files.
 * Return: the stream's file. Until the caller's fput() of it the stream stays
 * reserved and *@ref live. Or an ERR_PTR:
 * * %-EBADF - not an open fd
 * * %-EINVAL - not a stream
 * * %-EXDEV - a stream of another pool
 */
struct file *ws_stream_fget(struct ws_pool *pool, int fd,
			    struct ws_stream_ref *ref)
{
	struct file *file __free(fput) = fget(fd);
	const struct ws_stream *ws;

	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_op != &ws_stream_fops)
		return ERR_PTR(-EINVAL);
	ws = file->private_data;
	if (ws->pool != pool)
		return ERR_PTR(-EXDEV);

	*ref = ws->ref;
	return no_free_ptr(file);
}
