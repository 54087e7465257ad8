/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Write streams: the interface of the "xfs write streams" kernel series.
 *
 * A kernel that carries the series defines the same names in <linux/fs.h>;
 * each definition below steps back where that header was included first.
 */
#ifndef _UAPI_LINUX_WRITE_STREAMS_H
#define _UAPI_LINUX_WRITE_STREAMS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#ifndef FS_IOC_WRITE_STREAM_GET_MAX

/**
 * struct fs_write_stream_set - argument of FS_IOC_WRITE_STREAM_SET
 * @stream_fd: stream to set, as FS_IOC_WRITE_STREAM_ALLOC returned it;
 *	-1 with %FS_WRITE_STREAM_SET_CLEAR
 * @flags: FS_WRITE_STREAM_SET_*; any other bit is refused with EINVAL
 */
struct fs_write_stream_set {
	__s32	stream_fd;
	__u32	flags;
};

/* Take the file's stream away; stream_fd has to be -1. */
#define FS_WRITE_STREAM_SET_CLEAR	(1U << 0)

/*
 * FS_IOC_WRITE_STREAM_GET_MAX stores the number of streams of the device that
 * the file is placed on. Any caller, any file or directory. EFAULT.
 */
#define FS_IOC_WRITE_STREAM_GET_MAX	_IOR(0x15, 3, __u32)

/*
 * FS_IOC_WRITE_STREAM_ALLOC reserves any free stream of that device and
 * returns a close-on-exec fd for it. The stream is free again when the last
 * copy of the fd is closed. EPERM without CAP_SYS_ADMIN, ENOSPC when none is
 * free, EMFILE, EOPNOTSUPP where there are no streams.
 */
#define FS_IOC_WRITE_STREAM_ALLOC	_IO(0x15, 4)

/*
 * FS_IOC_WRITE_STREAM_SET sets or clears the stream of a regular file that is
 * open for writing. EFAULT; EINVAL for an unknown flag, CLEAR with an fd, an
 * fd that is no stream, or a file that is not regular; EBADF for a bad fd or a
 * file not open for writing; EXDEV for another device's stream; EPERM for a
 * caller who neither owns the file nor is capable, or an immutable file;
 * EBUSY while a write life time hint or an XFS filestream is set.
 */
#define FS_IOC_WRITE_STREAM_SET		_IOW(0x15, 5, struct fs_write_stream_set)

#endif /* FS_IOC_WRITE_STREAM_GET_MAX */

#endif /* _UAPI_LINUX_WRITE_STREAMS_H */
