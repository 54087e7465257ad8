// SPDX-License-Identifier: GPL-2.0
/* Crews of threads, see threads.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "threads.h"

struct hand {
	struct crew	*crew;
	unsigned int	nr;
	pthread_t	thread;
};

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

double race_seconds(void)
{
	const char *seconds = getenv("WSFS_RACE_SECONDS");

	return seconds ? atof(seconds) : 3;
}

void random_delay(unsigned int *seed, double max)
{
	double until = now() + max * rand_r(seed) / RAND_MAX;

	while (now() < until)
		;
}

void crew_add(struct crew *crew, crew_work work)
{
	if (crew->count < CREW_MAX)
		crew->work[crew->count++] = work;
}

bool crew_goes_on(struct crew *crew)
{
	return !__atomic_load_n(&crew->stop, __ATOMIC_RELAXED);
}

void crew_fail(struct crew *crew, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "# %s\n", text);
	__atomic_add_fetch(&crew->failures, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&crew->stop, true, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	struct hand *hand = arg;

	hand->crew->work[hand->nr](hand->crew, hand->nr);
	return NULL;
}

int crew_run(struct crew *crew)
{
	double until = now() + race_seconds();
	struct hand hands[CREW_MAX];
	unsigned int i, started;
	int err;

	for (started = 0; started < crew->count; started++) {
		hands[started].crew = crew;
		hands[started].nr = started;
		err = pthread_create(&hands[started].thread, NULL, work,
				     &hands[started]);
		if (err) {
			crew_fail(crew, "pthread_create: %s", strerror(err));
			break;
		}
	}
	while (crew_goes_on(crew) && now() < until)
		usleep(10000);
	__atomic_store_n(&crew->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < started; i++)
		pthread_join(hands[i].thread, NULL);
	return crew->failures;
}
