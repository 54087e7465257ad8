// SPDX-License-Identifier: GPL-2.0
/*
 * SET of an empty file against one other operation on the same file, at the
 * same moment, over and over. SET may replace the file below; whatever the
 * other operation did has to be there afterwards, and nothing else.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include "wsfs_fixture.h"
#include "threads.h"

#define NAME		WS_MNT "/file"
#define LOWER		WS_XFS "/file"
#define OTHER		WS_MNT "/other"

struct round {
	int setter;			/* fds of the file, opened before */
	int fd;
	int stream;
	int second_stream;
};

/* What one variant checks, as negative errno; -EILSEQ: not as it has to be. */
#define check(cond)	((cond) ? 0 : -EILSEQ)

static int holds(const char *path, size_t size, int byte)
{
	int fd, ret;

	fd = ws_open(path, O_RDONLY);
	if (fd < 0)
		return fd;
	ret = ws_verify(fd, 0, size, byte);
	close(fd);
	return ret;
}

/* The same contents through every fd and name, and below. */
static int all_hold(struct round *r, size_t size, int byte)
{
	return ws_verify(r->fd, 0, size, byte) ?:
	       ws_verify(r->setter, 0, size, byte) ?:
	       holds(NAME, size, byte) ?: holds(LOWER, size, byte);
}

static int do_write(struct round *r)
{
	return ws_fill(r->fd, 0, 4096, 'x');
}

static int check_write(struct round *r)
{
	return all_hold(r, 4096, 'x');
}

static int do_direct_write(struct round *r)
{
	int ret = ws_errno(fcntl(r->fd, F_SETFL, O_DIRECT));

	return ret ?: ws_fill(r->fd, 0, 4096, 'x');
}

static int do_append(struct round *r)
{
	int fd, ret;

	fd = ws_open(NAME, O_WRONLY | O_APPEND);
	if (fd < 0)
		return fd;
	ret = ws_fill(fd, 0, 4096, 'x');
	close(fd);
	return ret;
}

static int do_open_and_write(struct round *r)
{
	int fd, ret;

	fd = ws_open(NAME, O_RDWR);
	if (fd < 0)
		return fd;
	ret = ws_fill(fd, 0, 4096, 'x') ?: ws_verify(fd, 0, 4096, 'x');
	close(fd);
	return ret;
}

static int do_mmap_write(struct round *r)
{
	char *map;

	if (ftruncate(r->fd, 4096))
		return -errno;
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	memset(map, 'x', 4096);
	return ws_errno(munmap(map, 4096));
}

static int do_map_then_grow(struct round *r)
{
	char *map;

	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	if (ftruncate(r->fd, 4096))
		return -errno;
	memset(map, 'x', 4096);
	return ws_errno(munmap(map, 4096));
}

static int do_copy_file_range(struct round *r)
{
	off_t from = 0, to = 0;
	int src, ret = 0;

	src = ws_open(OTHER, O_RDONLY);
	if (src < 0)
		return src;
	if (copy_file_range(src, &from, r->fd, &to, 4096, 0) != 4096)
		ret = errno ? -errno : -EIO;
	close(src);
	return ret;
}

static int prepare_other(struct round *r)
{
	int fd = ws_create(OTHER), ret;

	if (fd < 0)
		return fd;
	ret = ws_fill(fd, 0, 4096, 'x');
	close(fd);
	return ret;
}

static int do_reflink(struct round *r)
{
	int src, ret;

	src = ws_open(OTHER, O_RDONLY);
	if (src < 0)
		return src;
	ret = ws_errno(ioctl(r->fd, FICLONE, src));
	close(src);
	return ret;
}

static int do_fallocate(struct round *r)
{
	return ws_errno(fallocate(r->fd, 0, 0, 65536));
}

static int check_fallocate(struct round *r)
{
	struct stat st;

	if (stat(NAME, &st))
		return -errno;
	return check(st.st_size == 65536 && st.st_blocks >= 128);
}

static int do_truncate(struct round *r)
{
	return ws_errno(truncate(NAME, 12345));
}

static int check_truncate(struct round *r)
{
	struct stat st, fst;

	if (stat(NAME, &st) || fstat(r->fd, &fst))
		return -errno;
	return check(st.st_size == 12345 && fst.st_size == 12345);
}

static int do_chmod(struct round *r)
{
	return ws_errno(fchmod(r->fd, 0604));
}

static int check_chmod(struct round *r)
{
	struct stat st, lower;

	if (stat(NAME, &st) || stat(LOWER, &lower))
		return -errno;
	return check((st.st_mode & 07777) == 0604 &&
		     (lower.st_mode & 07777) == 0604);
}

static int do_chown(struct round *r)
{
	return ws_errno(fchown(r->fd, 7, 8));
}

static int check_chown(struct round *r)
{
	struct stat st, lower;

	if (stat(NAME, &st) || stat(LOWER, &lower))
		return -errno;
	return check(st.st_uid == 7 && st.st_gid == 8 &&
		     lower.st_uid == 7 && lower.st_gid == 8);
}

static int do_utimens(struct round *r)
{
	static const struct timespec times[2] = { { 1000, 1 }, { 2000, 2 } };

	return ws_errno(futimens(r->fd, times));
}

static int check_utimens(struct round *r)
{
	struct stat st, lower;

	if (stat(NAME, &st) || stat(LOWER, &lower))
		return -errno;
	return check(st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 2 &&
		     st.st_atim.tv_sec == 1000 && st.st_atim.tv_nsec == 1 &&
		     lower.st_mtim.tv_sec == 2000);
}

static int do_setxattr(struct round *r)
{
	return ws_errno(fsetxattr(r->fd, "user.colour", "green", 5, 0));
}

static int check_setxattr(struct round *r)
{
	char value[8];

	if (getxattr(NAME, "user.colour", value, sizeof(value)) != 5 ||
	    getxattr(LOWER, "user.colour", value, sizeof(value)) != 5)
		return -errno;
	return check(!memcmp(value, "green", 5));
}

static int do_chattr(struct round *r)
{
	return ws_chattr(r->fd, FS_NODUMP_FL, 0);
}

static int check_chattr(struct round *r)
{
	int flags;

	if (ioctl(r->setter, FS_IOC_GETFLAGS, &flags))
		return -errno;
	return check(flags & FS_NODUMP_FL);
}

static int do_link(struct round *r)
{
	return ws_errno(link(NAME, OTHER));
}

static int check_link(struct round *r)
{
	struct stat a, b, fst;

	if (stat(NAME, &a) || stat(OTHER, &b) || fstat(r->fd, &fst))
		return -errno;
	return check(a.st_ino == b.st_ino && a.st_ino == fst.st_ino &&
		     a.st_nlink == 2 && fst.st_nlink == 2);
}

static int do_unlink(struct round *r)
{
	return ws_errno(unlink(NAME));
}

static int check_unlink(struct round *r)
{
	struct stat st;

	if (fstat(r->fd, &st))
		return -errno;
	return check(st.st_nlink == 0 && access(NAME, F_OK) &&
		     access(LOWER, F_OK) && ws_entries(WS_MNT) == 0);
}

static int do_rename(struct round *r)
{
	return ws_errno(rename(NAME, OTHER));
}

static int check_rename(struct round *r)
{
	struct stat st, fst;

	if (stat(OTHER, &st) || fstat(r->fd, &fst))
		return -errno;
	return check(st.st_ino == fst.st_ino && st.st_nlink == 1 &&
		     access(NAME, F_OK) && access(LOWER, F_OK) &&
		     ws_entries(WS_MNT) == 1);
}

/* Another file takes the name while SET is at it: that one must survive. */
static int do_rename_over(struct round *r)
{
	return ws_errno(rename(OTHER, NAME));
}

static int check_rename_over(struct round *r)
{
	struct stat fst;

	if (fstat(r->fd, &fst))
		return -errno;
	return check(fst.st_nlink == 0 && fst.st_size == 0 &&
		     ws_entries(WS_MNT) == 1) ?:
	       holds(NAME, 4096, 'x') ?: holds(LOWER, 4096, 'x');
}

static int do_exchange(struct round *r)
{
	return ws_errno(renameat2(AT_FDCWD, NAME, AT_FDCWD, OTHER,
				  RENAME_EXCHANGE));
}

static int check_exchange(struct round *r)
{
	struct stat st, fst;

	if (stat(OTHER, &st) || fstat(r->fd, &fst))
		return -errno;
	return check(st.st_ino == fst.st_ino && st.st_size == 0 &&
		     ws_entries(WS_MNT) == 2) ?:
	       holds(NAME, 4096, 'x') ?: holds(LOWER, 4096, 'x');
}

/* The old or the new file, never neither, never both. */
static int do_look(struct round *r)
{
	struct stat st;

	for (int i = 0; i < 20; i++) {
		if (stat(NAME, &st))
			return -errno;
		if (st.st_nlink != 1)
			return -EMLINK;
		if (st.st_size)
			return -EFBIG;
	}
	return 0;
}

static int do_list(struct round *r)
{
	for (int i = 0; i < 5; i++)
		if (ws_entries(WS_MNT) != 1 || !ws_lists(WS_MNT, "file"))
			return -EILSEQ;
	return 0;
}

static int do_open_below(struct round *r)
{
	int fd;

	for (int i = 0; i < 10; i++) {
		fd = ws_open(LOWER, O_RDONLY);
		if (fd < 0)
			return fd;
		close(fd);
	}
	return 0;
}

static int do_set_second(struct round *r)
{
	return ws_set(r->fd, r->second_stream);
}

static int check_set_second(struct round *r)
{
	struct ws_fdinfo first, second;
	struct wsfs_file_info info;
	int ret;

	ret = ws_info(r->fd, &info) ?: ws_fdinfo(r->stream, &first) ?:
	      ws_fdinfo(r->second_stream, &second);
	if (ret)
		return ret;
	return check((info.flags & WSFS_FILE_STREAM) &&
		     first.files + second.files == 1 &&
		     info.stream == (first.files ? first.stream :
				     second.stream));
}

static int do_set_same(struct round *r)
{
	return ws_set(r->fd, r->stream);
}

static int check_has_stream(struct round *r)
{
	return check(ws_has_stream(r->fd) == 1 &&
		     ws_has_stream(r->setter) == 1);
}

static int do_clear(struct round *r)
{
	return ws_clear(r->fd);
}

static int check_clear(struct round *r)
{
	struct ws_fdinfo info;
	int ret = ws_fdinfo(r->stream, &info);

	return ret ?: check(ws_has_stream(r->fd) == (int)info.files);
}

static int do_release(struct round *r)
{
	return ws_errno(close(r->stream));
}

static int check_release(struct round *r)
{
	r->stream = -1;
	return check(ws_has_stream(r->fd) == 0 &&
		     ws_free_streams(WS_MNT) == WS_STREAMS - 1);
}

FIXTURE(against)
{
	int dir;
};

FIXTURE_VARIANT(against)
{
	int (*before)(struct round *r);
	int (*act)(struct round *r);
	int (*after)(struct round *r);
	bool stream_may_be_gone;
};

FIXTURE_VARIANT_ADD(against, write) { NULL, do_write, check_write };
FIXTURE_VARIANT_ADD(against, direct_write)
	{ NULL, do_direct_write, check_write };
FIXTURE_VARIANT_ADD(against, append) { NULL, do_append, check_write };
FIXTURE_VARIANT_ADD(against, open_and_write)
	{ NULL, do_open_and_write, check_write };
FIXTURE_VARIANT_ADD(against, mmap_write) { NULL, do_mmap_write, check_write };
FIXTURE_VARIANT_ADD(against, map_then_grow)
	{ NULL, do_map_then_grow, check_write };
FIXTURE_VARIANT_ADD(against, copy_file_range)
	{ prepare_other, do_copy_file_range, check_write };
FIXTURE_VARIANT_ADD(against, reflink)
	{ prepare_other, do_reflink, check_write };
FIXTURE_VARIANT_ADD(against, fallocate)
	{ NULL, do_fallocate, check_fallocate };
FIXTURE_VARIANT_ADD(against, truncate) { NULL, do_truncate, check_truncate };
FIXTURE_VARIANT_ADD(against, chmod) { NULL, do_chmod, check_chmod };
FIXTURE_VARIANT_ADD(against, chown) { NULL, do_chown, check_chown };
FIXTURE_VARIANT_ADD(against, utimens) { NULL, do_utimens, check_utimens };
FIXTURE_VARIANT_ADD(against, setxattr) { NULL, do_setxattr, check_setxattr };
FIXTURE_VARIANT_ADD(against, chattr) { NULL, do_chattr, check_chattr };
FIXTURE_VARIANT_ADD(against, link) { NULL, do_link, check_link };
FIXTURE_VARIANT_ADD(against, unlink) { NULL, do_unlink, check_unlink };
FIXTURE_VARIANT_ADD(against, rename) { NULL, do_rename, check_rename };
FIXTURE_VARIANT_ADD(against, rename_over)
	{ prepare_other, do_rename_over, check_rename_over };
FIXTURE_VARIANT_ADD(against, exchange)
	{ prepare_other, do_exchange, check_exchange };
FIXTURE_VARIANT_ADD(against, look) { NULL, do_look, check_has_stream };
FIXTURE_VARIANT_ADD(against, list) { NULL, do_list, check_has_stream };
FIXTURE_VARIANT_ADD(against, open_below)
	{ NULL, do_open_below, check_has_stream };
FIXTURE_VARIANT_ADD(against, second_stream)
	{ NULL, do_set_second, check_set_second };
FIXTURE_VARIANT_ADD(against, same_stream)
	{ NULL, do_set_same, check_has_stream };
FIXTURE_VARIANT_ADD(against, clear) { NULL, do_clear, check_clear };
FIXTURE_VARIANT_ADD(against, release)
	{ NULL, do_release, check_release, true };

FIXTURE_SETUP(against)
{
	ASSERT_EQ(0, ws_up());
	self->dir = ws_open(WS_MNT, O_RDONLY);
	ASSERT_LE(0, self->dir);
}

FIXTURE_TEARDOWN(against)
{
	close(self->dir);
	EXPECT_EQ(0, ws_umount(WS_MNT));
	EXPECT_EQ(0, ws_umount(WS_XFS));
	EXPECT_EQ(0, ws_repair(0));
	EXPECT_EQ(0, ws_down());
}

/* The second thread; the first one meets it before and after each round. */
struct opponent {
	int			(*act)(struct round *r);
	struct round		*round;		/* NULL: the end */
	int			ret;
	double			span;		/* how long SET takes */
	pthread_barrier_t	meet;
};

static void *oppose(void *arg)
{
	struct opponent *o = arg;
	unsigned int seed = 1;

	for (;;) {
		pthread_barrier_wait(&o->meet);
		if (!o->round)
			return NULL;
		random_delay(&seed, 1.2 * o->span);
		o->ret = o->act(o->round);
		pthread_barrier_wait(&o->meet);
	}
}

static int race_once(struct opponent *o, struct round *r, unsigned int *seed)
{
	double start;
	int ret;

	o->round = r;
	pthread_barrier_wait(&o->meet);
	random_delay(seed, o->span / 4);
	start = now();
	ret = ws_set(r->setter, r->stream);
	start = now() - start;
	pthread_barrier_wait(&o->meet);
	o->span += (start - o->span) / 8;
	return ret;
}

TEST_F(against, nothing_is_lost)
{
	double until = now() + race_seconds();
	struct opponent o = { .act = variant->act, .span = 0.001 };
	struct round r;
	unsigned int seed = 2, rounds = 0;
	pthread_t thread;
	int ret;

	pthread_barrier_init(&o.meet, NULL, 2);
	ASSERT_EQ(0, pthread_create(&thread, NULL, oppose, &o));
	while (now() < until && !_metadata->exit_code) {
		r.setter = ws_create(NAME);
		r.fd = ws_open(NAME, O_RDWR);
		/* the first stream owns the AG of the root: SET moves away */
		r.second_stream = ws_alloc(self->dir);
		r.stream = ws_alloc(self->dir);
		ASSERT_LE(0, r.setter);
		ASSERT_LE(0, r.fd);
		ASSERT_LE(0, r.stream);
		ASSERT_LE(0, r.second_stream);
		if (variant->before)
			ASSERT_EQ(0, variant->before(&r));

		ret = race_once(&o, &r, &seed);
		if (!variant->stream_may_be_gone || ret != -EBADF)
			EXPECT_EQ(0, ret);
		EXPECT_EQ(0, o.ret);
		EXPECT_EQ(0, variant->after(&r));

		unlink(NAME);
		unlink(OTHER);
		close(r.setter);
		close(r.fd);
		if (r.stream >= 0)
			close(r.stream);
		close(r.second_stream);
		rounds++;
	}
	o.round = NULL;
	pthread_barrier_wait(&o.meet);
	pthread_join(thread, NULL);
	TH_LOG("%u rounds, %lld moves, SET takes %.0f us", rounds,
	       ws_sysfs(WS_MNT, "stream/1/homed"), 1e6 * o.span);
	EXPECT_LT(0, rounds);
	EXPECT_EQ(0, ws_entries(WS_MNT));
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
}

TEST_HARNESS_MAIN
