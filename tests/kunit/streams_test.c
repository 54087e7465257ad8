// SPDX-License-Identifier: GPL-2.0
/*
 * The pool and the stream fds of streams.c. What takes more than one process
 * (dup, fork, exec, SCM_RIGHTS) is left to tests/kselftest.
 *
 * A KUnit test runs in a kthread, so its descriptors live in a table it shares
 * with other kthreads, and its last fput() is delayed: put_fd() waits for it.
 */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

#include "streams.h"
#include "tests.h"

/* What a pool's owner saw. */
struct seen {
	u32 reserved;
	u32 released;
	u32 nr_at_release;
	u32 last;
	bool live_at_release;
	struct ws_stream_ref watch;
};

static void seen_reserved(struct ws_pool *pool, u32 id)
{
	struct seen *seen = pool->private;

	lockdep_assert_held(&pool->lock);
	seen->reserved++;
	seen->last = id;
}

static void seen_released(struct ws_pool *pool, u32 id)
{
	struct seen *seen = pool->private;

	lockdep_assert_held(&pool->lock);
	seen->released++;
	seen->last = id;
	seen->nr_at_release = ws_pool_nr_reserved(pool);
	seen->live_at_release |= ws_stream_live(pool, seen->watch);
}

static void seen_show_fdinfo(struct seq_file *m, struct ws_pool *pool, u32 id)
{
	const struct seen *seen = pool->private;

	seq_printf(m, "seen:\t%u of stream %u\n", seen->reserved, id);
}

static const struct ws_pool_ops seen_ops = {
	.reserved	= seen_reserved,
	.released	= seen_released,
	.show_fdinfo	= seen_show_fdinfo,
};

static struct ws_pool *pool_alloc(struct kunit *test, u32 nr, struct seen *seen)
{
	struct ws_pool *pool;

	pool = ws_pool_alloc(nr, seen ? &seen_ops : NULL, seen);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pool);
	return pool;
}

static void pool_free(struct ws_pool *pool)
{
	ws_pool_kill(pool);
	ws_pool_put(pool);
}

static int get_fd(struct kunit *test, struct ws_pool *pool)
{
	int fd = ws_stream_alloc_fd(pool);

	KUNIT_ASSERT_GE(test, fd, 0);
	return fd;
}

static void put_fd(struct kunit *test, int fd)
{
	KUNIT_EXPECT_EQ(test, close_fd(fd), 0);
	flush_delayed_fput();
}

static struct ws_stream_ref get_ref(struct kunit *test, struct ws_pool *pool,
				    int fd)
{
	struct ws_stream_ref ref = WS_STREAM_NONE;
	struct file *file = ws_stream_fget(pool, fd, &ref);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	__fput_sync(file);
	return ref;
}

static void alloc_takes_the_lowest_free_id(struct kunit *test)
{
	struct ws_pool *pool = pool_alloc(test, 4, NULL);
	int fd[4], i;

	for (i = 0; i < 4; i++) {
		fd[i] = get_fd(test, pool);
		KUNIT_EXPECT_EQ(test,
				ws_stream_ref_id(get_ref(test, pool, fd[i])), i);
		KUNIT_EXPECT_TRUE(test, ws_stream_is_reserved(pool, i));
		KUNIT_EXPECT_EQ(test, ws_pool_nr_reserved(pool), i + 1);
	}
	put_fd(test, fd[2]);
	put_fd(test, fd[1]);
	KUNIT_EXPECT_FALSE(test, ws_stream_is_reserved(pool, 1));
	KUNIT_EXPECT_FALSE(test, ws_stream_is_reserved(pool, 4));
	KUNIT_EXPECT_FALSE(test, ws_stream_is_reserved(pool, U32_MAX));
	fd[1] = get_fd(test, pool);
	KUNIT_EXPECT_EQ(test, ws_stream_ref_id(get_ref(test, pool, fd[1])), 1);

	put_fd(test, fd[0]);
	put_fd(test, fd[1]);
	KUNIT_EXPECT_TRUE(test, ws_pool_is_busy(pool));
	put_fd(test, fd[3]);
	KUNIT_EXPECT_FALSE(test, ws_pool_is_busy(pool));
	pool_free(pool);
}

static void streams_set_aside_are_never_offered(struct kunit *test)
{
	struct seen seen = {};
	struct ws_pool *pool = pool_alloc(test, 4, &seen);
	struct ws_stream_ref ref;
	int fd[2], i;

	ws_pool_set_aside(pool, 2);
	KUNIT_EXPECT_EQ(test, ws_pool_nr(pool), 4);
	KUNIT_EXPECT_EQ(test, ws_pool_nr_offered(pool), 2);
	KUNIT_EXPECT_EQ(test, ws_pool_nr_reserved(pool), 2);
	for (i = 0; i < 2; i++) {
		fd[i] = get_fd(test, pool);
		KUNIT_EXPECT_EQ(test,
				ws_stream_ref_id(get_ref(test, pool, fd[i])), i);
		ref = ws_pool_aside_ref(pool, 2 + i);
		KUNIT_EXPECT_EQ(test, ws_stream_ref_id(ref), 2 + i);
		KUNIT_EXPECT_TRUE(test, ws_stream_live(pool, ref));
		KUNIT_EXPECT_TRUE(test, ws_stream_is_reserved(pool, 2 + i));
	}
	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(pool), -ENOSPC);
	put_fd(test, fd[0]);
	put_fd(test, fd[1]);
	KUNIT_EXPECT_EQ(test, ws_pool_nr_reserved(pool), 2);
	KUNIT_EXPECT_TRUE(test, ws_stream_live(pool, ref));
	KUNIT_EXPECT_EQ(test, seen.reserved, 2);
	pool_free(pool);

	pool = pool_alloc(test, 2, NULL);
	ws_pool_set_aside(pool, 2);
	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(pool), -EOPNOTSUPP);
	pool_free(pool);
}

static void alloc_fails_with_nothing_done(struct kunit *test)
{
	struct seen seen = {};
	struct ws_pool *pool = pool_alloc(test, 1, &seen);
	struct ws_pool *none = pool_alloc(test, 0, &seen);
	struct rlimit *nofile = &current->signal->rlim[RLIMIT_NOFILE];
	const struct cred *old;
	struct rlimit limit;
	struct cred *cred;
	int fd, i;

	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(none), -EOPNOTSUPP);

	cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_SYS_ADMIN);
	old = override_creds(cred);
	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(pool), -EPERM);
	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(none), -EPERM);
	revert_creds(old);
	put_cred(cred);

	limit = *nofile;
	nofile->rlim_cur = 0;
	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(pool), -EMFILE);
	*nofile = limit;

	KUNIT_EXPECT_EQ(test, seen.reserved, 0);
	KUNIT_EXPECT_FALSE(test, ws_pool_is_busy(pool));

	fd = get_fd(test, pool);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(pool), -ENOSPC);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, seen.reserved, 1);
	KUNIT_EXPECT_EQ(test, seen.released, 0);
	KUNIT_EXPECT_EQ(test, ws_pool_nr_reserved(pool), 1);
	KUNIT_EXPECT_TRUE(test, ws_stream_live(pool, get_ref(test, pool, fd)));
	/* one reference is ours and one the stream's: none was left behind */
	KUNIT_EXPECT_EQ(test, refcount_read(&pool->ref), 2);

	put_fd(test, fd);
	KUNIT_EXPECT_EQ(test, seen.released, 1);
	put_fd(test, get_fd(test, pool));
	KUNIT_EXPECT_EQ(test, seen.reserved, 2);
	KUNIT_EXPECT_EQ(test, refcount_read(&pool->ref), 1);
	pool_free(pool);
	pool_free(none);
}

static void owner_sees_a_release_when_it_is_done(struct kunit *test)
{
	struct seen seen = {};
	struct ws_pool *pool = pool_alloc(test, 8, &seen);
	int a = get_fd(test, pool), b = get_fd(test, pool);

	KUNIT_EXPECT_EQ(test, seen.last, 1);
	seen.watch = get_ref(test, pool, a);
	put_fd(test, a);
	KUNIT_EXPECT_EQ(test, seen.last, 0);
	KUNIT_EXPECT_EQ(test, seen.nr_at_release, 1);
	KUNIT_EXPECT_FALSE(test, seen.live_at_release);
	put_fd(test, b);
	KUNIT_EXPECT_EQ(test, seen.nr_at_release, 0);
	pool_free(pool);
}

static void reference_never_outlives_its_reservation(struct kunit *test)
{
	struct ws_pool *pool = pool_alloc(test, 2, NULL);
	struct ws_stream_ref first, prev = WS_STREAM_NONE, ref;
	int keep = get_fd(test, pool), fd, i;

	first = get_ref(test, pool, keep);
	for (i = 0; i < 1000; i++) {
		fd = get_fd(test, pool);
		ref = get_ref(test, pool, fd);
		KUNIT_ASSERT_EQ(test, ws_stream_ref_id(ref), 1);
		KUNIT_ASSERT_FALSE(test, ws_stream_ref_none(ref));
		KUNIT_ASSERT_TRUE(test, ws_stream_live(pool, ref));
		KUNIT_ASSERT_TRUE(test,
				  ws_stream_ref_equal(ref,
						      get_ref(test, pool, fd)));
		/* the next owner of the same id inherits nothing */
		KUNIT_ASSERT_FALSE(test, ws_stream_ref_equal(ref, prev));
		KUNIT_ASSERT_FALSE(test, ws_stream_live(pool, prev));
		put_fd(test, fd);
		KUNIT_ASSERT_FALSE(test, ws_stream_live(pool, ref));
		KUNIT_ASSERT_TRUE(test, ws_stream_live(pool, first));
		prev = ref;
	}
	put_fd(test, keep);
	KUNIT_EXPECT_FALSE(test, ws_stream_live(pool, first));

	/* never live, whatever they hold */
	KUNIT_EXPECT_FALSE(test, ws_stream_live(pool, WS_STREAM_NONE));
	ref.token = U64_MAX;
	KUNIT_EXPECT_FALSE(test, ws_stream_live(pool, ref));
	ref.token = 2;
	KUNIT_EXPECT_FALSE(test, ws_stream_live(pool, ref));
	pool_free(pool);
}

static void held_file_keeps_the_reservation(struct kunit *test)
{
	struct ws_pool *pool = pool_alloc(test, 1, NULL);
	struct ws_stream_ref ref;
	struct file *file;
	int fd = get_fd(test, pool);

	file = ws_stream_fget(pool, fd, &ref);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	put_fd(test, fd);
	KUNIT_EXPECT_TRUE(test, ws_stream_live(pool, ref));
	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(pool), -ENOSPC);
	__fput_sync(file);
	KUNIT_EXPECT_FALSE(test, ws_stream_live(pool, ref));
	put_fd(test, get_fd(test, pool));
	flush_delayed_fput();
	pool_free(pool);
}

static const struct file_operations other_fops = {
	.owner = THIS_MODULE,
};

static void fget_refuses_what_is_no_stream_of_the_pool(struct kunit *test)
{
	struct ws_pool *pool = pool_alloc(test, 1, NULL);
	struct ws_pool *other = pool_alloc(test, 1, NULL);
	struct ws_stream_ref ref = { .token = 4711 };
	int fd = get_fd(test, other), closed = get_fd(test, pool);
	int anon = anon_inode_getfd("[other]", &other_fops, test, O_CLOEXEC);

	KUNIT_ASSERT_GE(test, anon, 0);
	KUNIT_EXPECT_PTR_EQ(test, ws_stream_fget(pool, fd, &ref),
			    ERR_PTR(-EXDEV));
	KUNIT_EXPECT_PTR_EQ(test, ws_stream_fget(pool, anon, &ref),
			    ERR_PTR(-EINVAL));
	put_fd(test, closed);
	KUNIT_EXPECT_PTR_EQ(test, ws_stream_fget(pool, closed, &ref),
			    ERR_PTR(-EBADF));
	KUNIT_EXPECT_PTR_EQ(test, ws_stream_fget(pool, -1, &ref),
			    ERR_PTR(-EBADF));
	KUNIT_EXPECT_PTR_EQ(test, ws_stream_fget(pool, INT_MIN, &ref),
			    ERR_PTR(-EBADF));
	KUNIT_EXPECT_PTR_EQ(test, ws_stream_fget(pool, INT_MAX, &ref),
			    ERR_PTR(-EBADF));
	KUNIT_EXPECT_EQ(test, ref.token, 4711);
	put_fd(test, anon);
	put_fd(test, fd);
	pool_free(pool);
	pool_free(other);
}

static void fdinfo_shows_the_id_and_what_the_owner_adds(struct kunit *test)
{
	struct seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	struct ws_pool *pool;
	struct seq_file m = { .size = 64 };
	struct ws_stream_ref ref;
	struct file *file;
	char buf[64] = "";
	int a, b;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	pool = pool_alloc(test, 2, seen);
	a = get_fd(test, pool);
	b = get_fd(test, pool);
	m.buf = buf;
	file = ws_stream_fget(pool, b, &ref);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);

	file->f_op->show_fdinfo(&m, file);
	buf[m.count] = '\0';
	KUNIT_EXPECT_STREQ(test, buf, "stream:\t1\nseen:\t2 of stream 1\n");

	ws_pool_kill(pool);
	ws_pool_put(pool);
	kunit_kfree(test, seen);
	m.count = 0;
	file->f_op->show_fdinfo(&m, file);
	buf[m.count] = '\0';
	KUNIT_EXPECT_STREQ(test, buf, "stream:\t1\n");

	__fput_sync(file);
	put_fd(test, a);
	put_fd(test, b);
}

static void killed_pool_calls_nobody(struct kunit *test)
{
	struct seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	struct ws_stream_ref ref;
	struct ws_pool *pool;
	int fd;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	pool = pool_alloc(test, 2, seen);
	fd = get_fd(test, pool);
	ref = get_ref(test, pool, fd);

	/* unmounted with a stream fd open; KASAN sees who touches seen */
	ws_pool_kill(pool);
	kunit_kfree(test, seen);
	KUNIT_EXPECT_EQ(test, ws_stream_alloc_fd(pool), -EOPNOTSUPP);
	flush_delayed_fput();
	KUNIT_EXPECT_TRUE(test, ws_stream_live(pool, ref));

	/* the fd has the last reference from here on */
	ws_pool_get(pool);
	ws_pool_put(pool);
	KUNIT_EXPECT_EQ(test, refcount_read(&pool->ref), 2);
	ws_pool_put(pool);
	put_fd(test, fd);
}

static void pool_sizes_have_limits(struct kunit *test)
{
	struct ws_pool *pool;
	int fd;

	KUNIT_EXPECT_PTR_EQ(test, ws_pool_alloc(WS_STREAMS_MAX + 1, NULL, NULL),
			    ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, ws_pool_alloc(U32_MAX, NULL, NULL),
			    ERR_PTR(-EINVAL));
	ws_pool_put(NULL);

	pool = pool_alloc(test, WS_STREAMS_MAX, NULL);
	KUNIT_EXPECT_EQ(test, ws_pool_nr(pool), WS_STREAMS_MAX);
	fd = get_fd(test, pool);

	/* the last id fits a reference */
	spin_lock(&pool->lock);
	memset64(pool->token + 1, U64_MAX, WS_STREAMS_MAX - 2);
	spin_unlock(&pool->lock);
	KUNIT_EXPECT_EQ(test,
			ws_stream_ref_id(get_ref(test, pool, fd)), 0);
	put_fd(test, fd);
	spin_lock(&pool->lock);
	pool->token[0] = U64_MAX;
	spin_unlock(&pool->lock);
	fd = get_fd(test, pool);
	KUNIT_EXPECT_EQ(test, ws_stream_ref_id(get_ref(test, pool, fd)),
			WS_STREAMS_MAX - 1);
	KUNIT_EXPECT_TRUE(test, ws_stream_live(pool, get_ref(test, pool, fd)));
	put_fd(test, fd);
	pool_free(pool);
}

#define RACERS		4
#define RACER_STREAMS	3
#define RACER_ROUNDS	500

struct race {
	struct ws_pool *pool;
	struct completion done;
	atomic_t running;
	atomic_t held[RACER_STREAMS];
	atomic_t reservations;
	atomic_t wrong;
};

static int racer(void *data)
{
	struct race *race = data;
	struct ws_stream_ref ref;
	struct file *file;
	int fd, i;
	u32 id;

	for (i = 0; i < RACER_ROUNDS; i++) {
		fd = ws_stream_alloc_fd(race->pool);
		if (fd == -ENOSPC) {
			flush_delayed_fput();
			continue;
		}
		if (fd < 0) {
			atomic_inc(&race->wrong);
			break;
		}
		atomic_inc(&race->reservations);
		file = ws_stream_fget(race->pool, fd, &ref);
		if (IS_ERR(file)) {
			atomic_inc(&race->wrong);
			break;
		}
		id = ws_stream_ref_id(ref);
		if (atomic_inc_return(&race->held[id]) != 1)
			atomic_inc(&race->wrong);
		cond_resched();
		if (!ws_stream_live(race->pool, ref))
			atomic_inc(&race->wrong);
		atomic_dec(&race->held[id]);
		close_fd(fd);
		__fput_sync(file);
	}
	if (atomic_dec_and_test(&race->running))
		complete(&race->done);
	return 0;
}

static void streams_have_one_holder_under_contention(struct kunit *test)
{
	struct seen seen = {};
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	struct task_struct *task;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, race);
	race->pool = pool_alloc(test, RACER_STREAMS, &seen);
	init_completion(&race->done);
	atomic_set(&race->running, 1);
	for (i = 0; i < RACERS; i++) {
		atomic_inc(&race->running);
		task = kthread_run(racer, race, "ws-racer/%d", i);
		if (IS_ERR(task)) {
			atomic_dec(&race->running);
			KUNIT_FAIL(test, "no kthread");
			break;
		}
	}
	if (!atomic_dec_and_test(&race->running))
		wait_for_completion(&race->done);
	flush_delayed_fput();

	KUNIT_EXPECT_EQ(test, atomic_read(&race->wrong), 0);
	KUNIT_EXPECT_EQ(test, seen.reserved,
			atomic_read(&race->reservations));
	KUNIT_EXPECT_EQ(test, seen.released, seen.reserved);
	KUNIT_EXPECT_GT(test, seen.reserved, RACER_ROUNDS);
	KUNIT_EXPECT_FALSE(test, ws_pool_is_busy(race->pool));
	KUNIT_EXPECT_EQ(test, refcount_read(&race->pool->ref), 1);
	pool_free(race->pool);
}

static struct kunit_case wsfs_streams_cases[] = {
	KUNIT_CASE(alloc_takes_the_lowest_free_id),
	KUNIT_CASE(streams_set_aside_are_never_offered),
	KUNIT_CASE(alloc_fails_with_nothing_done),
	KUNIT_CASE(owner_sees_a_release_when_it_is_done),
	KUNIT_CASE(reference_never_outlives_its_reservation),
	KUNIT_CASE(held_file_keeps_the_reservation),
	KUNIT_CASE(fget_refuses_what_is_no_stream_of_the_pool),
	KUNIT_CASE(fdinfo_shows_the_id_and_what_the_owner_adds),
	KUNIT_CASE(killed_pool_calls_nobody),
	KUNIT_CASE(pool_sizes_have_limits),
	KUNIT_CASE(streams_have_one_holder_under_contention),
	{}
};

struct kunit_suite wsfs_streams_suite = {
	.name = "wsfs_streams",
	.test_cases = wsfs_streams_cases,
};
