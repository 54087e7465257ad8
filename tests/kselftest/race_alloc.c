// SPDX-License-Identifier: GPL-2.0
/* Many threads reserve and release streams: no id is ever handed out twice. */
#include "wsfs_fixture.h"
#include "threads.h"

#define THREADS		8

struct pool_race {
	struct crew crew;
	int dir;
	int owned[WS_STREAMS];
	unsigned long reserved;
	unsigned long refused;
};

static void reserve_and_release(struct crew *crew, unsigned int nr)
{
	struct pool_race *race = container_of(crew, struct pool_race, crew);
	struct ws_fdinfo info;
	int s;

	while (crew_goes_on(crew)) {
		s = ws_alloc(race->dir);
		if (s == -ENOSPC) {
			__atomic_add_fetch(&race->refused, 1, __ATOMIC_RELAXED);
			continue;
		}
		if (s < 0) {
			crew_fail(crew, "ALLOC: %s", strerror(-s));
			break;
		}
		if (ws_fdinfo(s, &info) || info.stream < 0 ||
		    info.stream >= WS_STREAMS) {
			crew_fail(crew, "fdinfo of a new stream");
			break;
		}
		if (__atomic_exchange_n(&race->owned[info.stream], 1,
					__ATOMIC_SEQ_CST))
			crew_fail(crew, "stream %d has two owners",
				  info.stream);
		__atomic_add_fetch(&race->reserved, 1, __ATOMIC_RELAXED);
		if (nr % 2)
			sched_yield();
		__atomic_store_n(&race->owned[info.stream], 0,
				 __ATOMIC_SEQ_CST);
		close(s);
	}
}

TEST_F(wsfs, no_id_has_two_owners)
{
	struct pool_race race = { .dir = self->dir };

	for (int i = 0; i < THREADS; i++)
		crew_add(&race.crew, reserve_and_release);
	EXPECT_EQ(0, crew_run(&race.crew));
	EXPECT_LT(0, race.reserved);
	TH_LOG("%lu reserved, %lu refused", race.reserved, race.refused);
	EXPECT_EQ(WS_STREAMS, ws_free_streams(WS_MNT));
	EXPECT_EQ(0, ws_sysfs(WS_MNT, "reserved"));
}

/* The same from processes, which are killed while they are at it. */
static void reserve_for_ever(int dir)
{
	int s;

	for (;;) {
		s = ws_alloc(dir);
		if (s >= 0)
			close(s);
	}
}

TEST_F(wsfs, killed_owners_leave_nothing)
{
	pid_t child[4];

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(child); i++) {
			child[i] = fork();
			if (!child[i])
				reserve_for_ever(self->dir);
			ASSERT_LT(0, child[i]);
		}
		usleep(20000);
		for (size_t i = 0; i < ARRAY_SIZE(child); i++)
			ws_kill(child[i]);
	}
	EXPECT_TRUE(ws_eventually(ws_free_streams(WS_MNT) == WS_STREAMS));
}

TEST_HARNESS_MAIN
