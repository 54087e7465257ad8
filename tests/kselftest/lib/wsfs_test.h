/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the wsfs selftests share: disks, mounts, the ioctls, what wsfs shows.
 *
 * Every function that can fail returns a negative errno, or what it is for
 * (0, a file descriptor, a number), so that a test reads
 *
 *	EXPECT_EQ(-EBADF, ws_set(fd, -1));
 *
 * Nothing here judges; the tests do.
 */
#ifndef WSFS_TEST_H
#define WSFS_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>
#include <linux/write_streams.h>
#include <linux/wsfs.h>

#define __printf(a, b)		__attribute__((format(printf, a, b)))

/* The kernel's life time hints, which not every libc names. */
#ifndef RWH_WRITE_LIFE_SHORT
#define RWH_WRITE_LIFE_NOT_SET	0
#define RWH_WRITE_LIFE_SHORT	2
#define RWH_WRITE_LIFE_EXTREME	5
#endif

/*
 * Every test runs in a mount namespace of its own, with a tmpfs at WS_TOP and
 * in it the mount points below.
 */
#define WS_TOP		"/mnt"
#define WS_XFS		WS_TOP "/xfs"		/* the XFS on disk 0 */
#define WS_MNT		WS_TOP "/ws"		/* wsfs over it */
#define WS_XFS2		WS_TOP "/xfs2"		/* the XFS on disk 1 */
#define WS_MNT2		WS_TOP "/ws2"		/* a second wsfs */
#define WS_TMP		WS_TOP "/tmp"		/* plain tmpfs */

/* What ws_up() makes. AG set of stream i: 4i to 4i+3. */
#define WS_AGCOUNT	16
#define WS_STREAMS	4
#define WS_AGS_EACH	(WS_AGCOUNT / WS_STREAMS)
#define WS_OPTIONS	"streams=4"

#define WS_USER		1000			/* some user who is not root */

/* --- disks and mounts (disks.c) --- */

/* A private mount namespace with the directories above. */
int ws_namespace(void);
/* A fresh XFS with WS_AGCOUNT AGs on disk @nr, unmounted. */
int ws_mkfs(int nr);
/* Device of disk @nr: the nr-th word of $WSFS_DISKS, else a loop device. */
const char *ws_disk(int nr);
int ws_mount(const char *source, const char *target, const char *type,
	     unsigned long flags, const char *options);
int ws_umount(const char *target);
/* The namespace and a fresh XFS on disk 0, mounted with @options. */
int ws_xfs_up(const char *options);
/* The same, and wsfs over it with WS_OPTIONS. */
int ws_up(void);
/* A second XFS on disk 1, wsfs over it at WS_MNT2. */
int ws_up2(void);
/*
 * Closes every file of this process and takes down every mount that is there.
 * The first error is returned, but all is tried.
 */
int ws_down(void);
/* Checks the unmounted XFS on disk @nr with xfs_repair -n. */
int ws_repair(int nr);
/* Runs a shell command, shows its output only when it fails. */
__printf(1, 2)
int ws_run(const char *fmt, ...);

/* --- the interface (ioctls.c) --- */

/* A SET that takes a pointer, for the pointers that are wrong. */
#define ws_set_ptr(fd, ptr)	ws_ioctl(fd, FS_IOC_WRITE_STREAM_SET, ptr)

/* ioctl(2) that returns a negative errno. */
int ws_ioctl(int fd, unsigned long cmd, void *arg);
int ws_max(int fd, __u32 *max);
int ws_alloc(int fd);
/*
 * A stream that does not own the AG where the file is, so that SET has to move
 * the file. With the streams of WS_OPTIONS only.
 */
int ws_alloc_away(int fd);
int ws_set(int fd, int stream);
int ws_clear(int fd);
int ws_set_raw(int fd, int stream, __u32 flags);
int ws_info(int fd, struct wsfs_file_info *info);
/*
 * A page mapped with @prot and behind it a page where nothing is mapped. It
 * is all zeroes and stays until the process ends.
 */
char *ws_page(int prot);
/* Does the file carry a stream? */
int ws_has_stream(int fd);
/* Streams that could be reserved now; reserves them all for a moment. */
int ws_free_streams(const char *path);

/* Has wsfs make .wsfs, which it does when it first needs it, at the latest. */
int ws_make_home(const char *path);

struct ws_fdinfo {
	int			stream;
	char			ag_set[64];
	unsigned long long	files;
	unsigned long long	bytes;
	char			dev[WSFS_DEV_NAME_LEN];
};

int ws_fdinfo(int fd, struct ws_fdinfo *info);
/* A number in /sys/fs/wsfs/DEV/@name of the wsfs that is mounted at @path. */
long long ws_sysfs(const char *path, const char *name);
int ws_sysfs_str(const char *path, const char *name, char *buf, size_t size);

/* --- files (files.c) --- */

/* open(2) with mode 0644 that returns a negative errno. */
int ws_open(const char *path, int flags);
/* A new empty file, opened O_RDWR. */
int ws_create(const char *path);
/* Writes @size bytes of @byte at @offset. */
int ws_fill(int fd, off_t offset, size_t size, int byte);
/* Are there @size bytes of @byte at @offset? 0, -EILSEQ, or the error. */
int ws_verify(int fd, off_t offset, size_t size, int byte);
/* Entries of a directory besides . and .. */
int ws_entries(const char *path);
bool ws_lists(const char *path, const char *name);
int ws_get_hint(int fd, __u64 *hint);
int ws_set_hint(int fd, __u64 hint);
/* FS_*_FL on and off. */
int ws_chattr(int fd, int on, int off);
int ws_xflags(int fd, __u32 on);
/* AG of the first data block, through FIEMAP. */
int ws_data_agno(int fd, const struct wsfs_geometry *geo);
/* 0, or the negative errno of a libc call that returned -1. */
int ws_errno(long ret);

/* --- processes and privileges (process.c) --- */

/* Takes a capability out of the effective set, or puts it back. */
int ws_capability(int cap, bool on);
/* Effective user, without any capability unless root. */
int ws_become(uid_t uid);
/* root with all its capabilities again */
void ws_become_root(void);
/* What @fn returns (an int, or -errno) when a child runs it. */
int ws_in_child(int (*fn)(int a, int b), int a, int b);
/*
 * First thing in such a child: root of a user namespace of its own. ECANCELED
 * where that does not work, for it must not be taken for wsfs's answer.
 */
int ws_in_userns(void);
/* A child that runs @fn, then waits to be killed. Returns its pid. */
pid_t ws_hold(int (*fn)(int a, int b), int a, int b);
void ws_kill(pid_t pid);
/* Passes @payload over the socket, and takes one from it. */
int ws_send_fd(int sock, int payload);
int ws_recv_fd(int sock);

/* Waits up to 10 seconds for what another process brings about. */
#define ws_eventually(cond) ({					\
	int __tries = 1000;					\
	bool __is;						\
								\
	while (!(__is = (cond)) && __tries--)			\
		usleep(10000);					\
	__is;							\
})

#endif /* WSFS_TEST_H */
