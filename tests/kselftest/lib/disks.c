// SPDX-License-Identifier: GPL-2.0
/* Disks, filesystems and mounts of the wsfs selftests. */
#include <mntent.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <linux/close_range.h>
#include <linux/loop.h>

#include "wsfs_test.h"

#define MAX_DISKS	2
#define DISK_SIZE	(512UL << 20)
/* small enough to be quick, so too small to be supported */
#define MKFS		"mkfs.xfs --unsupported -q -f -K -m reflink=1 -l size=16m"
#define LOG_FILE	WS_TOP "/log"

int ws_run(const char *fmt, ...)
{
	char cmd[1024], line[512];
	int len, status;
	va_list ap;
	FILE *log;

	len = snprintf(cmd, sizeof(cmd), "exec >" LOG_FILE " 2>&1; ");
	va_start(ap, fmt);
	vsnprintf(cmd + len, sizeof(cmd) - len, fmt, ap);
	va_end(ap);

	status = system(cmd);
	if (!status)
		return 0;
	fprintf(stderr, "# failed (%#x): %s\n", status, cmd + len);
	log = fopen(LOG_FILE, "r");
	while (log && fgets(line, sizeof(line), log))
		fprintf(stderr, "#   %s", line);
	if (log)
		fclose(log);
	return -EIO;
}

int ws_namespace(void)
{
	static const char *const dirs[] = {
		WS_XFS, WS_MNT, WS_XFS2, WS_MNT2, WS_TMP, NULL,
	};

	umask(022);
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("wsfs_test", WS_TOP, "tmpfs", 0, NULL))
		return -errno;
	for (int i = 0; dirs[i]; i++)
		if (mkdir(dirs[i], 0755))
			return -errno;
	return 0;
}

/* The fd stays open: the loop device goes when nothing uses it any more. */
static int make_loop(char *path, size_t size)
{
	struct loop_config config = {
		.info.lo_flags = LO_FLAGS_AUTOCLEAR,
	};
	int ctl, nr, loop, backing;

	backing = memfd_create("wsfs_test_disk", MFD_CLOEXEC);
	if (backing < 0 || ftruncate(backing, DISK_SIZE))
		return -errno;
	ctl = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (ctl < 0)
		return -errno;
	nr = ioctl(ctl, LOOP_CTL_GET_FREE);
	close(ctl);
	if (nr < 0)
		return -errno;
	snprintf(path, size, "/dev/loop%d", nr);
	loop = open(path, O_RDWR | O_CLOEXEC);
	if (loop < 0)
		return -errno;
	config.fd = backing;
	if (ioctl(loop, LOOP_CONFIGURE, &config))
		return -errno;
	close(backing);
	return loop;
}

const char *ws_disk(int nr)
{
	static char paths[MAX_DISKS][64];
	const char *word = getenv("WSFS_DISKS");
	int i;

	if (nr >= MAX_DISKS || paths[nr][0])
		return nr < MAX_DISKS ? paths[nr] : "";

	for (i = 0; word; i++) {
		word += strspn(word, " ,\n");
		if (!*word)
			break;
		if (i == nr) {
			snprintf(paths[nr], sizeof(paths[nr]), "%.*s",
				 (int)strcspn(word, " ,\n"), word);
			return paths[nr];
		}
		word += strcspn(word, " ,\n");
	}

	if (make_loop(paths[nr], sizeof(paths[nr])) < 0)
		fprintf(stderr, "# no disk %d: WSFS_DISKS names none, no loop device: %s\n",
			nr, strerror(errno));
	return paths[nr];
}

static bool claimable(const char *disk)
{
	int fd = open(disk, O_RDWR | O_EXCL | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int ws_mkfs(int nr)
{
	const char *disk = ws_disk(nr);

	/* a test that failed may have left its mounts to the kernel */
	if (!ws_eventually(claimable(disk)))
		return -EBUSY;
	return ws_run(MKFS " -d agcount=%d,size=%lu %s", WS_AGCOUNT, DISK_SIZE,
		      disk);
}

int ws_repair(int nr)
{
	return ws_run("xfs_repair -n %s", ws_disk(nr));
}

int ws_mount(const char *source, const char *target, const char *type,
	     unsigned long flags, const char *options)
{
	return ws_errno(mount(source, target, type, flags, options));
}

int ws_umount(const char *target)
{
	return ws_errno(umount2(target, 0));
}

int ws_xfs_up(const char *options)
{
	int ret = ws_namespace();

	if (!ret)
		ret = ws_mkfs(0);
	if (!ret)
		ret = ws_mount(ws_disk(0), WS_XFS, "xfs", 0, options);
	return ret;
}

int ws_up(void)
{
	int ret = ws_xfs_up(NULL);

	if (!ret)
		ret = ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS);
	return ret;
}

int ws_up2(void)
{
	int ret = ws_mkfs(1);

	if (!ret)
		ret = ws_mount(ws_disk(1), WS_XFS2, "xfs", 0, NULL);
	if (!ret)
		ret = ws_mount(WS_XFS2, WS_MNT2, "wsfs", 0, WS_OPTIONS);
	return ret;
}

/* The mount point below WS_TOP that was mounted last. */
static bool last_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *ent;
	bool found = false;

	while (mounts && (ent = getmntent(mounts))) {
		if (strncmp(ent->mnt_dir, WS_TOP "/", strlen(WS_TOP "/")))
			continue;
		snprintf(path, size, "%s", ent->mnt_dir);
		found = true;
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

int ws_down(void)
{
	char path[256];
	int ret = 0, err;

	ws_become_root();
	close_range(3, ~0U, 0);
	while (last_mount(path, sizeof(path))) {
		err = ws_umount(path);
		if (!err)
			continue;
		fprintf(stderr, "# umount %s: %s\n", path, strerror(-err));
		ret = ret ?: err;
		if (umount2(path, MNT_DETACH))
			break;
	}
	return ret;
}
