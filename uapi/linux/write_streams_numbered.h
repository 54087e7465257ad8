/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Write streams by number: the earlier interface of the series, as programs
 * were built against it. Served by wsfs where it is mounted with -o numbered.
 */
#ifndef _UAPI_LINUX_WRITE_STREAMS_NUMBERED_H
#define _UAPI_LINUX_WRITE_STREAMS_NUMBERED_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Values of fs_write_stream.op_flags, one at a time */
#define FS_WRITE_STREAM_OP_GET_MAX	(1U << 0)
#define FS_WRITE_STREAM_OP_GET		(1U << 1)
#define FS_WRITE_STREAM_OP_SET		(1U << 2)

/**
 * struct fs_write_stream - argument of FS_IOC_WRITE_STREAM
 * @op_flags: FS_WRITE_STREAM_OP_*
 * @stream_id: the stream's number, from 1 on; 0 for none. GET stores it, SET
 *	reads it.
 * @max_streams: GET_MAX stores the highest number
 * @rsvd: not looked at
 */
struct fs_write_stream {
	__u32	op_flags;
	__u32	stream_id;
	__u32	max_streams;
	__u32	rsvd;
};

/*
 * GET_MAX and GET take any file or directory. SET takes a regular file that is
 * open for writing, from its owner or a capable caller; 0 takes the stream away.
 * The same number means the same stream for everybody: there is no reservation.
 *
 * EFAULT; EINVAL for another op_flags, and from SET for a number that is too
 * high or a file that is not regular; from SET also EBADF for a file not open
 * for writing, EPERM, EROFS, EXDEV for a realtime file, and EBUSY while a write
 * life time hint or an XFS filestream is set. ENOTTY without -o numbered.
 */
#define FS_IOC_WRITE_STREAM		_IOWR('f', 135, struct fs_write_stream)
/* The same in version 2 of the series */
#define FS_IOC_WRITE_STREAM_V2		_IOWR('f', 43, struct fs_write_stream)

#endif /* _UAPI_LINUX_WRITE_STREAMS_NUMBERED_H */
