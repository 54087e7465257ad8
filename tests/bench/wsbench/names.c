// SPDX-License-Identifier: GPL-2.0
/*
 * names DIRECTORY create|stat|readdir|unlink COUNT
 *
 * Does it with the names n.0 to n.COUNT-1 in DIRECTORY (readdir: reads all of it
 * COUNT times), and prints how many names that were and how many nanoseconds it
 * took. In C, since a script would measure itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what, const char *which)
{
	fprintf(stderr, "names: %s %s: %s\n", what, which, strerror(errno));
	exit(1);
}

static int create(int dir, const char *name)
{
	int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY, 0644);

	return fd < 0 ? -1 : close(fd);
}

static int status(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
}

static int discard(int dir, const char *name)
{
	return unlinkat(dir, name, 0);
}

/* One pass over the directory; returns the number of entries, or -1. */
static long list(int dir)
{
	static char buf[64 << 10];
	long got, at, entries = 0;

	if (lseek(dir, 0, SEEK_SET) < 0)
		return -1;
	while ((got = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (at = 0; at < got; entries++) {
			unsigned short length;

			/* struct linux_dirent64.d_reclen */
			memcpy(&length, buf + at + 16, sizeof(length));
			at += length;
		}
	}
	return got < 0 ? -1 : entries;
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	int (*each)(int dir, const char *name) = NULL;
	long count, i, done = 0;
	long long start;
	int dir;

	if (argc == 4 && !strcmp(argv[2], "create")) {
		each = create;
	} else if (argc == 4 && !strcmp(argv[2], "stat")) {
		each = status;
	} else if (argc == 4 && !strcmp(argv[2], "unlink")) {
		each = discard;
	} else if (argc != 4 || strcmp(argv[2], "readdir")) {
		fputs("usage: names DIRECTORY create|stat|readdir|unlink COUNT\n", stderr);
		return 2;
	}
	count = atol(argv[3]);
	dir = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		fail("open", argv[1]);

	start = now();
	for (i = 0; i < count; i++) {
		char name[32];
		long entries = 1;

		if (each) {
			snprintf(name, sizeof(name), "n.%ld", i);
			if (each(dir, name))
				fail(argv[2], name);
		} else {
			entries = list(dir);
			if (entries < 0)
				fail(argv[2], argv[1]);
		}
		done += entries;
	}
	printf("%ld %lld\n", done, now() - start);
	return 0;
}
