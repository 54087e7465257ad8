/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What wsfs has beyond the write stream interface: what it tells about itself,
 * and where a directory's new files are made.
 */
#ifndef _UAPI_LINUX_WSFS_H
#define _UAPI_LINUX_WSFS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Magic number of a wsfs superblock in the kernel, "wsfs". statfs(2) tells the
 * f_type of the filesystem below: programs choose by it how to use a file.
 */
#define WSFS_SUPER_MAGIC	0x77736673

#define WSFS_DEV_NAME_LEN	32

/**
 * struct wsfs_geometry - answer of WSFS_IOC_GEOMETRY
 * @blocksize: bytes of a filesystem block
 * @agblocks: blocks of an allocation group (the last one may be shorter);
 *	0 on a lower that is not XFS
 * @agcount: allocation groups now; grows with xfs_growfs
 * @streams: streams of the data device, 0 where there are none
 * @lower_major: device number of the lower filesystem, as stat(2) shows it
 * @lower_minor: ditto
 * @dev: directory below /sys/fs/wsfs/, NUL terminated
 * @reserved: zero
 */
struct wsfs_geometry {
	__u32	blocksize;
	__u32	agblocks;
	__u32	agcount;
	__u32	streams;
	__u32	lower_major;
	__u32	lower_minor;
	char	dev[WSFS_DEV_NAME_LEN];
	__u32	reserved[8];
};

/* The file carries a reserved stream. */
#define WSFS_FILE_STREAM	(1U << 0)
/* SET put the file where its stream lives: its inode is in the home AG. */
#define WSFS_FILE_HOMED		(1U << 1)
/* SET could not place the file, or its data was seen outside the AG set. */
#define WSFS_FILE_MISSED	(1U << 2)
/*
 * SET could not move the file, since it has data, is mapped or has two links;
 * what it is given from now on goes to its stream's AGs.
 */
#define WSFS_FILE_ANCHORED	(1U << 3)
/* The stream was chosen by the file's write life time hint (-o hints). */
#define WSFS_FILE_HINT		(1U << 4)

/**
 * struct wsfs_file_info - answer of WSFS_IOC_FILE_INFO
 * @flags: WSFS_FILE_*
 * @stream: id of the stream, 0-based as in sysfs; with %WSFS_FILE_STREAM
 * @home_agno: AG that SET chose for the file; with %WSFS_FILE_STREAM
 * @inode_agno: AG of the lower inode; ~0 on a lower that is not XFS
 * @dir_how: of a directory WSFS_DIR_*, as WSFS_IOC_SET_DIR set it or it was
 *	inherited; else 0
 * @reserved: zero
 */
struct wsfs_file_info {
	__u32	flags;
	__u32	stream;
	__u32	home_agno;
	__u32	inode_agno;
	__u32	dir_how;
	__u32	reserved[3];
};

/*
 * Both take any open file or directory of the mount, need no privilege and
 * fail with EFAULT alone (ENOTTY off wsfs).
 */
#define WSFS_IOC_GEOMETRY	_IOR(0xd9, 1, struct wsfs_geometry)
#define WSFS_IOC_FILE_INFO	_IOR(0xd9, 2, struct wsfs_file_info)

/* Values of wsfs_dir_place.how */
/* Nothing of its own: as the mount's options say. */
#define WSFS_DIR_DEFAULT	0
/* In the AGs of the stream, which the file carries from then on. */
#define WSFS_DIR_STREAM		1
/* Where the directory itself is, as XFS does. */
#define WSFS_DIR_NEAR		2
/* In each AG in turn, without a stream. */
#define WSFS_DIR_SPREAD		3
/* The same over the AGs that belong to no reserved stream; all if none do. */
#define WSFS_DIR_SPREAD_FREE	4

/**
 * struct wsfs_dir_place - argument of WSFS_IOC_SET_DIR
 * @how: WSFS_DIR_*
 * @stream_fd: the stream, with %WSFS_DIR_STREAM; else -1
 * @reserved: zero
 */
struct wsfs_dir_place {
	__u32	how;
	__s32	stream_fd;
	__u32	reserved[2];
};

/*
 * WSFS_IOC_SET_DIR says where files are born that are made in a directory from
 * now on: by open(2), O_TMPFILE or mknod(2). Directories made in it inherit.
 * What is in it already, or is moved or linked into it, stays as it is. It
 * lasts until it is set anew or wsfs is unmounted, and with a stream until that
 * is released.
 *
 * EFAULT; EINVAL for an unknown @how, a @stream_fd other than -1 without
 * %WSFS_DIR_STREAM, an fd that is no stream, or @reserved that is not zero;
 * ENOTDIR; ENOENT for a directory that was removed; EBADF for a bad stream_fd;
 * EXDEV for another filesystem's stream, or where new files are realtime files;
 * EBUSY where they are in an XFS filestream; EPERM for a caller who neither owns
 * the directory nor is capable, or an immutable one; EROFS; EOPNOTSUPP where
 * there are no streams, or no AGs to be spread over; ENOMEM.
 */
#define WSFS_IOC_SET_DIR	_IOW(0xd9, 3, struct wsfs_dir_place)

#endif /* _UAPI_LINUX_WSFS_H */
