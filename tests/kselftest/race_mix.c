// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once on the same files for a few seconds.
 *
 * In the first test every writer has a lane of its own in each of the files,
 * writes it in every way there is, and reads it back, while others change the
 * files' streams, names, sizes and attributes. In the second the files come
 * and go as well, and only what a thread did to a file that is its own counts.
 */
#include <sched.h>
#include <stdio.h>

#include <linux/falloc.h>

#include "wsfs_fixture.h"
#include "threads.h"

#define FILES		6
#define WRITERS		4
#define LANE		65536
#define LANES_END	(WRITERS * LANE)

struct mix {
	struct crew	crew;
	int		dir;
	pthread_mutex_t	lock;		/* of changes to the streams */
	int		stream[WS_STREAMS];
	unsigned int	writers;	/* so many have found their lane */
	unsigned char	last[FILES][WRITERS];
	unsigned long	writes;
	unsigned long	sets;
};

static struct mix *mix_of(struct crew *crew)
{
	return container_of(crew, struct mix, crew);
}

/* Each file has one of two names at any time. */
static void name_of(char *path, size_t size, unsigned int file, bool second)
{
	snprintf(path, size, WS_MNT "/%s%u", second ? "second" : "first",
		 file);
}

static int open_either(unsigned int file, int flags)
{
	char path[64];
	int fd = -ENOENT;

	for (int i = 0; i < 100 && fd == -ENOENT; i++) {
		name_of(path, sizeof(path), file, i % 2);
		fd = ws_open(path, flags);
	}
	return fd;
}

static int write_mapped(int fd, off_t offset, size_t size, int byte)
{
	char *map;

	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (map == MAP_FAILED)
		return -errno;
	memset(map, byte, size);
	return ws_errno(munmap(map, size));
}

static void write_lane(struct crew *crew, unsigned int nr)
{
	static const int flags[] = { O_RDWR, O_RDWR | O_DIRECT };
	struct mix *mix = mix_of(crew);
	unsigned int seed = nr, file, lane;
	unsigned char byte = 0;
	int fd, ret, how;
	off_t offset;

	lane = __atomic_fetch_add(&mix->writers, 1, __ATOMIC_RELAXED);
	offset = (off_t)lane * LANE;
	while (crew_goes_on(crew)) {
		file = rand_r(&seed) % FILES;
		how = rand_r(&seed) % 3;
		byte = byte % 255 + 1;
		fd = open_either(file, flags[how == 1]);
		if (fd < 0) {
			crew_fail(crew, "writer: open: %s", strerror(-fd));
			break;
		}
		if (how == 2)
			ret = write_mapped(fd, offset, LANE, byte);
		else
			ret = ws_fill(fd, offset, LANE, byte);
		if (ret) {
			crew_fail(crew, "write %d: %s", how, strerror(-ret));
			break;
		}
		mix->last[file][lane] = byte;
		ret = ws_verify(fd, offset, LANE, byte);
		close(fd);
		if (ret) {
			crew_fail(crew, "read back %d: %s", how,
				  strerror(-ret));
			break;
		}

		fd = open_either(file, O_RDONLY);
		ret = fd < 0 ? fd : ws_verify(fd, offset, LANE, byte);
		if (fd >= 0)
			close(fd);
		if (ret) {
			crew_fail(crew, "read anew %d: %s", how,
				  strerror(-ret));
			break;
		}
		__atomic_add_fetch(&mix->writes, 1, __ATOMIC_RELAXED);
	}
}

/* Streams come and go, so SET may meet a closed fd or one that is a file. */
static bool set_may_return(int ret)
{
	return !ret || ret == -EBADF || ret == -EINVAL;
}

static void set_streams(struct crew *crew, unsigned int nr)
{
	struct mix *mix = mix_of(crew);
	unsigned int seed = nr;
	int fd, ret;

	while (crew_goes_on(crew)) {
		fd = open_either(rand_r(&seed) % FILES, O_WRONLY);
		if (fd < 0) {
			crew_fail(crew, "setter: open: %s", strerror(-fd));
			break;
		}
		if (rand_r(&seed) % 4)
			ret = ws_set(fd, mix->stream[rand_r(&seed) %
						     WS_STREAMS]);
		else
			ret = ws_clear(fd);
		if (!set_may_return(ret))
			crew_fail(crew, "SET: %s", strerror(-ret));
		if (ws_has_stream(fd) < 0)
			crew_fail(crew, "FILE_INFO");
		close(fd);
		__atomic_add_fetch(&mix->sets, 1, __ATOMIC_RELAXED);
	}
}

static void churn_streams(struct crew *crew, unsigned int nr)
{
	struct mix *mix = mix_of(crew);
	unsigned int seed = nr;
	int *slot;

	while (crew_goes_on(crew)) {
		pthread_mutex_lock(&mix->lock);
		slot = &mix->stream[rand_r(&seed) % WS_STREAMS];
		if (*slot >= 0)
			close(*slot);
		*slot = ws_alloc(mix->dir);
		/* a SET or a look may still hold the one just closed */
		if (*slot < 0 && *slot != -ENOSPC)
			crew_fail(crew, "ALLOC: %s", strerror(-*slot));
		pthread_mutex_unlock(&mix->lock);
		usleep(1000);
	}
}

static void rename_files(struct crew *crew, unsigned int nr)
{
	unsigned int seed = nr, file;
	char first[64], second[64];

	while (crew_goes_on(crew)) {
		file = rand_r(&seed) % FILES;
		name_of(first, sizeof(first), file, false);
		name_of(second, sizeof(second), file, true);
		if (rename(first, second) && errno != ENOENT)
			crew_fail(crew, "rename: %s", strerror(errno));
		usleep(500);
		if (rename(second, first) && errno != ENOENT)
			crew_fail(crew, "rename back: %s", strerror(errno));
		usleep(500);
	}
}

/* Sizes and attributes, all past the lanes or without a trace in them. */
static void change_files(struct crew *crew, unsigned int nr)
{
	unsigned int seed = nr;
	int fd, ret;

	while (crew_goes_on(crew)) {
		fd = open_either(rand_r(&seed) % FILES, O_RDWR);
		if (fd < 0) {
			crew_fail(crew, "changer: open: %s", strerror(-fd));
			break;
		}
		switch (rand_r(&seed) % 7) {
		case 0:
			ret = ftruncate(fd, LANES_END + LANE);
			break;
		case 1:
			ret = ftruncate(fd, LANES_END);
			break;
		case 2:
			ret = fallocate(fd, FALLOC_FL_KEEP_SIZE, LANES_END,
					LANE);
			break;
		case 3:
			ret = fallocate(fd, FALLOC_FL_PUNCH_HOLE |
					FALLOC_FL_KEEP_SIZE, LANES_END, LANE);
			break;
		case 4:
			ret = fchmod(fd, 0600 + rand_r(&seed) % 64);
			break;
		case 5:
			ret = fsync(fd);
			break;
		default:
			ret = futimens(fd, NULL);
			break;
		}
		if (ret)
			crew_fail(crew, "changer: %s", strerror(errno));
		close(fd);
	}
}

/* Files of one's own beside it: empty, SET, written, renamed, unlinked. */
static void live_and_die(struct crew *crew, unsigned int nr)
{
	struct mix *mix = mix_of(crew);
	char path[64], moved[64];
	unsigned int seed = nr;
	int fd, again, ret;

	snprintf(path, sizeof(path), WS_MNT "/own%u", nr);
	snprintf(moved, sizeof(moved), WS_MNT "/moved%u", nr);
	while (crew_goes_on(crew)) {
		fd = ws_create(path);
		if (fd < 0) {
			crew_fail(crew, "create: %s", strerror(-fd));
			break;
		}
		ret = ws_set(fd, mix->stream[rand_r(&seed) % WS_STREAMS]);
		if (!set_may_return(ret))
			crew_fail(crew, "SET: %s", strerror(-ret));
		ret = ws_fill(fd, 0, LANE, 'x') ?: ws_verify(fd, 0, LANE, 'x');
		if (ret)
			crew_fail(crew, "own file: %s", strerror(-ret));
		if (rename(path, moved))
			crew_fail(crew, "rename own: %s", strerror(errno));
		again = ws_open(moved, O_RDONLY);
		ret = again < 0 ? again : ws_verify(again, 0, LANE, 'x');
		if (ret)
			crew_fail(crew, "moved file: %s", strerror(-ret));
		if (unlink(moved))
			crew_fail(crew, "unlink own: %s", strerror(errno));
		ret = ws_verify(fd, 0, LANE, 'x');
		if (ret)
			crew_fail(crew, "unlinked file: %s", strerror(-ret));
		if (again >= 0)
			close(again);
		close(fd);
	}
}

static void look_around(struct crew *crew, unsigned int nr)
{
	struct mix *mix = mix_of(crew);
	struct ws_fdinfo info;
	unsigned int seed = nr;

	while (crew_goes_on(crew)) {
		ws_entries(WS_MNT);
		ws_fdinfo(mix->stream[rand_r(&seed) % WS_STREAMS], &info);
		if (ws_sysfs(WS_MNT, "reserved") < 0 ||
		    ws_sysfs(WS_MNT, "stream/0/files") < 0 ||
		    ws_sysfs(WS_MNT, "stream/3/missed") < 0)
			crew_fail(crew, "sysfs");
		usleep(1000);
	}
}

/* Files, lanes and all, on disk as they were written last. */
static int lanes_hold(struct mix *mix, const char *dir)
{
	char path[64];
	int fd, ret = 0;

	for (unsigned int file = 0; !ret && file < FILES; file++) {
		snprintf(path, sizeof(path), "%s/first%u", dir, file);
		if (access(path, F_OK))
			snprintf(path, sizeof(path), "%s/second%u", dir, file);
		fd = ws_open(path, O_RDONLY);
		if (fd < 0)
			return fd;
		for (int lane = 0; !ret && lane < WRITERS; lane++)
			ret = ws_verify(fd, lane * LANE, LANE,
					mix->last[file][lane]);
		close(fd);
	}
	return ret;
}

FIXTURE(mix)
{
	struct mix mix;
};

FIXTURE_SETUP(mix)
{
	char path[64];
	int fd;

	ASSERT_EQ(0, ws_up());
	pthread_mutex_init(&self->mix.lock, NULL);
	self->mix.dir = ws_open(WS_MNT, O_RDONLY);
	ASSERT_LE(0, self->mix.dir);
	for (int i = 0; i < WS_STREAMS; i++) {
		self->mix.stream[i] = ws_alloc(self->mix.dir);
		ASSERT_LE(0, self->mix.stream[i]);
	}
	for (int i = 0; i < FILES; i++) {
		name_of(path, sizeof(path), i, false);
		fd = ws_create(path);
		ASSERT_LE(0, fd);
		close(fd);
	}
}

FIXTURE_TEARDOWN(mix)
{
	for (int i = 0; i < WS_STREAMS; i++)
		if (self->mix.stream[i] >= 0)
			close(self->mix.stream[i]);
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
	close(self->mix.dir);
	EXPECT_EQ(0, ws_umount(WS_MNT));
	EXPECT_EQ(0, ws_umount(WS_XFS));
	EXPECT_EQ(0, ws_repair(0));
	EXPECT_EQ(0, ws_down());
}

TEST_F(mix, no_write_is_lost)
{
	struct mix *mix = &self->mix;
	char path[64];

	/* mapped writes need the lanes to be there */
	for (int i = 0; i < FILES; i++) {
		name_of(path, sizeof(path), i, false);
		ASSERT_EQ(0, truncate(path, LANES_END));
	}
	for (int i = 0; i < WRITERS; i++)
		crew_add(&mix->crew, write_lane);
	crew_add(&mix->crew, set_streams);
	crew_add(&mix->crew, set_streams);
	crew_add(&mix->crew, churn_streams);
	crew_add(&mix->crew, rename_files);
	crew_add(&mix->crew, change_files);
	crew_add(&mix->crew, live_and_die);
	crew_add(&mix->crew, live_and_die);
	crew_add(&mix->crew, look_around);
	EXPECT_EQ(0, crew_run(&mix->crew));
	TH_LOG("%lu writes, %lu SETs", mix->writes, mix->sets);
	EXPECT_LT(0, mix->writes);
	EXPECT_LT(0, mix->sets);

	EXPECT_EQ(0, lanes_hold(mix, WS_MNT));
	EXPECT_EQ(0, lanes_hold(mix, WS_XFS));
	close(mix->dir);
	ASSERT_EQ(0, ws_umount(WS_MNT));
	ASSERT_EQ(0, ws_umount(WS_XFS));
	ASSERT_EQ(0, ws_mount(ws_disk(0), WS_XFS, "xfs", 0, NULL));
	EXPECT_EQ(0, lanes_hold(mix, WS_XFS));
	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS));
	EXPECT_EQ(0, lanes_hold(mix, WS_MNT));
	mix->dir = ws_open(WS_MNT, O_RDONLY);
}

/* Anything may vanish under anybody; nothing may go wrong in another way. */
static bool expected(int err)
{
	return !err || err == -ENOENT || err == -EEXIST;
}

static int destroy_one(int how, const char *a, const char *b, int stream)
{
	int fd, ret = 0;

	switch (how) {
	case 0:
		return ws_errno(unlink(a));
	case 1:
		return ws_errno(rename(a, b));
	case 2:
		return ws_errno(link(a, b));
	case 3:
		return ws_errno(truncate(a, 0));
	case 4:
		return ws_errno(renameat2(AT_FDCWD, a, AT_FDCWD, b,
					  RENAME_EXCHANGE));
	case 5:
		fd = ws_open(a, O_RDWR | O_CREAT | O_TRUNC);
		break;
	default:
		fd = ws_open(a, O_RDWR | O_CREAT);
		break;
	}
	if (fd < 0)
		return fd;
	if (how % 2)
		ret = ws_set(fd, stream);
	if (set_may_return(ret))
		ret = ws_fill(fd, 0, LANE, 'x');
	close(fd);
	return ret;
}

static void destroy_files(struct crew *crew, unsigned int nr)
{
	struct mix *mix = mix_of(crew);
	unsigned int seed = nr;
	char a[64], b[64];
	int ret, how;

	while (crew_goes_on(crew)) {
		name_of(a, sizeof(a), rand_r(&seed) % FILES, false);
		name_of(b, sizeof(b), rand_r(&seed) % FILES, false);
		how = rand_r(&seed) % 12;
		ret = destroy_one(how, a, b,
				  mix->stream[rand_r(&seed) % WS_STREAMS]);
		if (!expected(ret))
			crew_fail(crew, "operation %d: %s", how,
				  strerror(-ret));
		__atomic_add_fetch(&mix->writes, 1, __ATOMIC_RELAXED);
	}
}

TEST_F(mix, files_come_and_go)
{
	struct mix *mix = &self->mix;
	char path[64];

	for (int i = 0; i < 6; i++)
		crew_add(&mix->crew, destroy_files);
	crew_add(&mix->crew, churn_streams);
	crew_add(&mix->crew, live_and_die);
	crew_add(&mix->crew, live_and_die);
	crew_add(&mix->crew, look_around);
	EXPECT_EQ(0, crew_run(&mix->crew));
	TH_LOG("%lu operations", mix->writes);
	EXPECT_LT(0, mix->writes);

	/* what is left has names and can be removed by them */
	for (int i = 0; i < FILES; i++) {
		name_of(path, sizeof(path), i, false);
		if (unlink(path))
			EXPECT_EQ(ENOENT, errno);
	}
	EXPECT_EQ(0, ws_entries(WS_MNT));
}

TEST_HARNESS_MAIN
