/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write streams: who has reserved which one.
 *
 * A filesystem that can keep the data of different streams apart owns a pool
 * of them. Reserving a stream gives a file descriptor; the stream is free
 * again when the last copy of that descriptor is closed. An inode remembers its
 * stream by value, as a struct ws_stream_ref, and holds nothing: a reference
 * stops being live with the reservation it was taken from, and the next owner
 * of the same stream gets references that compare different.
 *
 * Nothing here knows what a stream means to the filesystem.
 */
#ifndef _WS_STREAMS_H
#define _WS_STREAMS_H

#include <linux/compiler.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct file;
struct seq_file;
struct ws_pool;

/* Ids are 0 .. number of streams - 1, and fit a struct ws_stream_ref. */
#define WS_STREAMS_MAX		65536
#define WS_STREAM_ID_BITS	16

/**
 * struct ws_stream_ref - the stream of an inode, by value
 * @token: which reservation (upper 48 bits, counted over the pool's life, from
 *	1) of which stream (lower 16 bits); 0 for none
 *
 * One word, so that an I/O path can copy it with READ_ONCE() while somebody
 * else sets it. It means something only together with the pool it came from.
 */
struct ws_stream_ref {
	u64	token;
};

#define WS_STREAM_NONE	((struct ws_stream_ref){ .token = 0 })

/**
 * ws_stream_ref_none() - does a reference stand for no stream
 * @ref: the reference
 *
 * Return: true when no stream was ever put into it. False says nothing about
 * whether the reservation still holds; that is ws_stream_live().
 */
static inline bool ws_stream_ref_none(struct ws_stream_ref ref)
{
	return !ref.token;
}

/**
 * ws_stream_ref_id() - the stream a reference was taken from
 * @ref: the reference, not a none
 *
 * Return: id of the stream, from 0.
 */
static inline u32 ws_stream_ref_id(struct ws_stream_ref ref)
{
	return ref.token & (WS_STREAMS_MAX - 1);
}

/**
 * ws_stream_ref_equal() - are two references of one pool the same
 * @a: the one
 * @b: the other
 *
 * Return: true when both name the same reservation of the same stream.
 */
static inline bool ws_stream_ref_equal(struct ws_stream_ref a,
				       struct ws_stream_ref b)
{
	return a.token == b.token;
}

/**
 * struct ws_pool_ops - what the owner of a pool wants to know
 * @reserved: a stream was reserved; optional
 * @released: a stream was released; optional. ws_pool_nr_reserved() and
 *	ws_stream_live() already show it as gone.
 * @show_fdinfo: print more lines into fdinfo of a stream's fd; optional
 *
 * All three run in process context with @ws_pool.lock held: they must not
 * sleep, and they see one order of events, the one other CPUs see. None runs
 * during or after ws_pool_kill(), so they may use @ws_pool.private.
 */
struct ws_pool_ops {
	void (*reserved)(struct ws_pool *pool, u32 id);
	void (*released)(struct ws_pool *pool, u32 id);
	void (*show_fdinfo)(struct seq_file *m, struct ws_pool *pool, u32 id);
};

/**
 * struct ws_pool - the streams of one device
 * @ref: the owner's reference, and one for each stream file
 * @lock: protects everything that is not constant. The owner may take it to
 *	keep reservations from coming or going.
 * @ops: the owner's callbacks, or NULL
 * @private: the owner's, not looked at; stays the owner's to free, after
 *	ws_pool_kill()
 * @dead: ws_pool_kill() was called
 * @nr: number of streams; constant
 * @aside: how many of them, the last ones, the owner has set aside; constant
 * @nr_reserved: how many of them are reserved
 * @seq: reservations so far
 * @token: what live references to each stream hold, 0 while it is free
 */
struct ws_pool {
	refcount_t			ref;
	spinlock_t			lock;	/* no other lock is taken inside */
	const struct ws_pool_ops	*ops;
	void				*private;
	bool				dead;
	u32				nr;
	u32				aside;
	u32				nr_reserved;
	u64				seq;
	u64				token[] __counted_by(nr);
};

struct ws_pool *ws_pool_alloc(u32 nr, const struct ws_pool_ops *ops,
			      void *private);
struct ws_pool *ws_pool_get(struct ws_pool *pool);
void ws_pool_put(struct ws_pool *pool);
void ws_pool_kill(struct ws_pool *pool);
void ws_pool_set_aside(struct ws_pool *pool, u32 nr);

int ws_stream_alloc_fd(struct ws_pool *pool);
struct file *ws_stream_fget(struct ws_pool *pool, int fd,
			    struct ws_stream_ref *ref);

/**
 * ws_pool_nr() - number of streams of a pool
 * @pool: the pool
 *
 * Return: reserved and free ones together.
 */
static inline u32 ws_pool_nr(const struct ws_pool *pool)
{
	return pool->nr;
}

/**
 * ws_pool_nr_offered() - number of streams that can be reserved
 * @pool: the pool
 *
 * Return: reserved and free ones together, without those set aside.
 */
static inline u32 ws_pool_nr_offered(const struct ws_pool *pool)
{
	return pool->nr - pool->aside;
}

/**
 * ws_pool_nr_reserved() - number of reserved streams
 * @pool: the pool
 *
 * Return: exact under @pool->lock, else a value that was true a moment ago.
 */
static inline u32 ws_pool_nr_reserved(const struct ws_pool *pool)
{
	return READ_ONCE(pool->nr_reserved);
}

/**
 * ws_pool_is_busy() - is any stream reserved
 * @pool: the pool
 *
 * Return: exact under @pool->lock, else a value that was true a moment ago.
 */
static inline bool ws_pool_is_busy(const struct ws_pool *pool)
{
	return ws_pool_nr_reserved(pool) != 0;
}

/**
 * ws_stream_is_reserved() - does anybody hold a stream
 * @pool: the pool
 * @id: the stream
 *
 * Return: exact under @pool->lock, else a value that was true a moment ago.
 */
static inline bool ws_stream_is_reserved(const struct ws_pool *pool, u32 id)
{
	return id < pool->nr && READ_ONCE(pool->token[id]) != 0;
}

/**
 * ws_pool_aside_ref() - a reference to a stream that was set aside
 * @pool: the pool
 * @id: the stream
 *
 * Return: a reference that stays live as long as the pool has its owner.
 */
static inline struct ws_stream_ref
ws_pool_aside_ref(const struct ws_pool *pool, u32 id)
{
	return (struct ws_stream_ref) { .token = READ_ONCE(pool->token[id]) };
}

/**
 * ws_stream_live() - does the reservation behind a reference still hold
 * @pool: the pool it was taken from
 * @ref: the reference
 *
 * Needs no lock and no barrier: a token is never used twice, so equality alone
 * says that this very reservation holds, and no other data is read on the
 * strength of it. Whoever races with the last close gets one of the two answers
 * that a call just before or just after it would have got. (A machine that
 * reads a u64 in two halves is misled only by 65,536 reservations in between.)
 *
 * Return: true while it holds.
 */
static inline bool ws_stream_live(const struct ws_pool *pool,
				  struct ws_stream_ref ref)
{
	u32 id = ws_stream_ref_id(ref);

	return !ws_stream_ref_none(ref) && id < pool->nr &&
	       READ_ONCE(pool->token[id]) == ref.token;
}

#endif /* _WS_STREAMS_H */
