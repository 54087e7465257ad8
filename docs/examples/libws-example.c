// SPDX-License-Identifier: GPL-2.0
/*
 * A log and a table on streams of their own, with libws from C. As root on a
 * wsfs mount:
 *
 *	cc -o libws-example libws-example.c $(pkg-config --cflags --libs libws)
 *	./libws-example /mnt/ws
 *
 * An application that can do without streams goes on when there are none:
 * only the placement of its data is worse then.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ws.h>

static void complain(void)
{
	fprintf(stderr, "%s\n", ws_last_error());
	if (*ws_last_advice())
		fprintf(stderr, "hint: %s\n", ws_last_advice());
}

/* Creates @name with @stream set and 64 KiB in it; returns 0 or -1. */
static int write_file(int dir, const char *name, int stream)
{
	struct ws_file_info info;
	char block[65536];
	int fd = openat(dir, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	int result = -1;

	if (fd < 0) {
		perror(name);
		return -1;
	}
	/* While the file is empty: then it is placed anew. */
	if (ws_stream_set(fd, stream) != 0 || ws_file_get_info(fd, &info, sizeof(info)) != 0) {
		complain();
	} else {
		printf("%s: stream %u, home in AG %u\n", name, info.stream, info.home_ag);
		memset(block, 'x', sizeof(block));
		if (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
			result = 0;
		else
			perror(name);
	}
	close(fd);
	return result;
}

int main(int argc, char **argv)
{
	int status = EXIT_FAILURE;
	int log_stream = -1;
	int table_stream = -1;
	char ags[64];
	int dir;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	if (ws_streams_available(dir) < 2) {
		complain();
		goto out;
	}
	log_stream = ws_stream_reserve(dir);
	table_stream = log_stream < 0 ? -1 : ws_stream_reserve(dir);
	if (table_stream < 0) {
		complain();
		goto out;
	}
	if (ws_stream_ag_set(log_stream, ags, sizeof(ags)) >= 0)
		printf("the log's AGs: %s\n", ags);
	if (write_file(dir, "wal.log", log_stream) == 0 &&
	    write_file(dir, "table.sst", table_stream) == 0)
		status = EXIT_SUCCESS;
out:
	if (log_stream >= 0)
		ws_stream_release(log_stream);
	if (table_stream >= 0)
		ws_stream_release(table_stream);
	close(dir);
	return status;
}
