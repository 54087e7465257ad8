// SPDX-License-Identifier: GPL-2.0
/*
 * Ioctls: the write stream interface, what wsfs tells about itself, and which
 * ioctls of the lower pass through.
 */

#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/uaccess.h>
#include "../uapi/linux/write_streams.h"
#include "../uapi/linux/wsfs.h"
#include "wsfs.h"

static int wsfs_ioc_get_max(struct file *file, __u32 __user *arg)
{
	return put_user(wsfs_steer_nr(file), arg);
}

static int wsfs_ioc_alloc(struct file *file)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	/* A realtime file is placed on a device without streams. */
	if (!wsfs_steer_nr(file))
		return -EOPNOTSUPP;
	wsfs_steer_refresh(WSFS_SB(file_inode(file)->i_sb));
	return ws_stream_alloc_fd(WSFS_SB(file_inode(file)->i_sb)->pool);
}

static int wsfs_ioc_set(struct file *file,
			const struct fs_write_stream_set __user *arg)
{
	struct fs_write_stream_set set;

	if (copy_from_user(&set, arg, sizeof(set)))
		return -EFAULT;
	if (set.flags & ~FS_WRITE_STREAM_SET_CLEAR)
		return -EINVAL;
	if (!S_ISREG(file_inode(file)->i_mode))
		return -EINVAL;
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!(set.flags & FS_WRITE_STREAM_SET_CLEAR))
		return wsfs_steer_set(file, set.stream_fd);
	if (set.stream_fd != -1)
		return -EINVAL;
	return wsfs_steer_clear(file);
}

static int wsfs_ioc_geometry(struct file *file,
			     struct wsfs_geometry __user *arg)
{
	struct super_block *sb = file_inode(file)->i_sb;
	const struct super_block *lower = wsfs_lower_sb(sb);
	struct wsfs_geometry out = {};
	struct wsfs_geo geo;

	wsfs_steer_refresh(WSFS_SB(sb));
	wsfs_steer_geo(WSFS_SB(sb), &geo);
	out.blocksize = lower->s_blocksize;
	out.agblocks = geo.agblocks;
	out.agcount = geo.agcount;
	out.streams = ws_pool_nr(WSFS_SB(sb)->pool);
	out.lower_major = MAJOR(lower->s_dev);
	out.lower_minor = MINOR(lower->s_dev);
	wsfs_sysfs_name(WSFS_SB(sb), out.dev, sizeof(out.dev));
	return copy_to_user(arg, &out, sizeof(out)) ? -EFAULT : 0;
}

static int wsfs_ioc_file_info(struct file *file,
			      struct wsfs_file_info __user *arg)
{
	struct wsfs_file_info out = {};

	wsfs_steer_info(file_inode(file), &out);
	return copy_to_user(arg, &out, sizeof(out)) ? -EFAULT : 0;
}

/*
 * Which of the lower's own ioctls pass: those that only ask, about the file or
 * about the filesystem, and trimming and labels, which are the administrator's
 * whichever way he comes. None that names another file, by handle or by inode
 * number, and none that moves blocks or sizes behind our back. What the VFS
 * answers itself (flags, reflink, FIEMAP, preallocation) does not come here.
 */
static bool wsfs_ioctl_passes(unsigned int cmd)
{
	switch (_IOC_TYPE(cmd)) {
	case 'X':
		switch (_IOC_NR(cmd)) {
		case 30:	/* XFS_IOC_DIOINFO */
		case 38:	/* XFS_IOC_GETBMAP */
		case 44:	/* XFS_IOC_GETBMAPA */
		case 45:	/* XFS_IOC_FSGETXATTRA */
		case 56:	/* XFS_IOC_GETBMAPX */
		case 58:	/* XFS_IOC_FREE_EOFBLOCKS */
		case 59:	/* FS_IOC_GETFSMAP */
		case 61:	/* XFS_IOC_AG_GEOMETRY */
		case 65:	/* XFS_IOC_RTGROUP_GEOMETRY */
		case 100:	/* XFS_IOC_FSGEOMETRY_V1 */
		case 113:	/* XFS_IOC_FSCOUNTS */
		case 115:	/* XFS_IOC_GET_RESBLKS */
		case 121:	/* FITRIM */
		case 124:	/* XFS_IOC_FSGEOMETRY_V4 */
		case 126:	/* XFS_IOC_FSGEOMETRY */
			return true;
		}
		return false;
	case 'v':
		return _IOC_NR(cmd) == 1;	/* FS_IOC_GETVERSION */
	case 0x94:
		/* FS_IOC_GETFSLABEL, FS_IOC_SETFSLABEL */
		return _IOC_NR(cmd) == 49 || _IOC_NR(cmd) == 50;
	}
	return false;
}

static struct file *wsfs_ioctl_lower(struct file *file)
{
	const struct wsfs_file *wf = file->private_data;

	if (S_ISREG(file_inode(file)->i_mode))
		return wsfs_file_lower(file, false, false);
	return wf->lower;
}

/**
 * wsfs_ioctl() - ioctl(2) on a wsfs file or directory
 * @file: the file
 * @cmd: FS_IOC_WRITE_STREAM_*, WSFS_IOC_*, or one of the lower's that passes
 * @arg: as the command says
 *
 * Return: as the command says; ENOTTY for any other.
 */
long wsfs_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *uarg = (void __user *)arg;
	struct file *lower;

	switch (cmd) {
	case FS_IOC_WRITE_STREAM_GET_MAX:
		return wsfs_ioc_get_max(file, uarg);
	case FS_IOC_WRITE_STREAM_ALLOC:
		return wsfs_ioc_alloc(file);
	case FS_IOC_WRITE_STREAM_SET:
		return wsfs_ioc_set(file, uarg);
	case WSFS_IOC_GEOMETRY:
		return wsfs_ioc_geometry(file, uarg);
	case WSFS_IOC_FILE_INFO:
		return wsfs_ioc_file_info(file, uarg);
	}
	if (!wsfs_ioctl_passes(cmd))
		return -ENOTTY;
	lower = wsfs_ioctl_lower(file);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	if (!lower->f_op->unlocked_ioctl)
		return -ENOTTY;
	return lower->f_op->unlocked_ioctl(lower, cmd, arg);
}

#ifdef CONFIG_COMPAT
long wsfs_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct file *lower;

	/* Our own structures look the same to 32-bit programs. */
	if (!wsfs_ioctl_passes(cmd))
		return wsfs_ioctl(file, cmd, (unsigned long)compat_ptr(arg));
	lower = wsfs_ioctl_lower(file);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	if (!lower->f_op->compat_ioctl)
		return -ENOIOCTLCMD;
	return lower->f_op->compat_ioctl(lower, cmd, arg);
}
#endif
