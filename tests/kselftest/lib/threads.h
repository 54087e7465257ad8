/* SPDX-License-Identifier: GPL-2.0 */
/* A crew of threads that work for a few seconds and report what went wrong. */
#ifndef WSFS_THREADS_H
#define WSFS_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "wsfs_test.h"

#define CREW_MAX	32

#define container_of(ptr, type, member)	\
	((type *)((char *)(ptr) - offsetof(type, member)))

struct crew;

typedef void (*crew_work)(struct crew *crew, unsigned int nr);

struct crew {
	crew_work	work[CREW_MAX];
	unsigned int	count;
	bool		stop;
	int		failures;
};

void crew_add(struct crew *crew, crew_work work);
/*
 * Runs every thread until it returns, which it should once crew_goes_on() says
 * no: after $WSFS_RACE_SECONDS, 3 by default, or the first failure. Returns
 * the number of failures.
 */
int crew_run(struct crew *crew);
bool crew_goes_on(struct crew *crew);
__printf(2, 3)
void crew_fail(struct crew *crew, const char *fmt, ...);

/* Seconds of CLOCK_MONOTONIC, and those that a race is to take. */
double now(void);
double race_seconds(void);
/* Spins for up to @max seconds, so that two threads meet anywhere. */
void random_delay(unsigned int *seed, double max);

#endif /* WSFS_THREADS_H */
