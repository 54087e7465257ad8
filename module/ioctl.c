// SPDX-License-Identifier: GPL-2.0
/*
 * Ioctls: the write stream interface, what wsfs tells about itself, and which
 * ioctls of the lower pass through.
 */

#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/uaccess.h>
#include "../uapi/linux/write_streams.h"
#include "../uapi/linux/write_streams_numbered.h"
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
	wsfs_pool_refresh(WSFS_SB(file_inode(file)->i_sb));
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

	wsfs_pool_refresh(WSFS_SB(sb));
	wsfs_pool_geo(WSFS_SB(sb), &geo);
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

static int wsfs_ioc_set_dir(struct file *file,
			    const struct wsfs_dir_place __user *arg)
{
	struct wsfs_dir_place place;

	if (copy_from_user(&place, arg, sizeof(place)))
		return -EFAULT;
	return wsfs_birth_set_dir(file, &place);
}

/* How an ioctl of the lower passes */
enum wsfs_pass {
	/* Not at all: ENOTTY */
	WSFS_REFUSE,
	/* It asks, or changes what no read-only mount forbids. */
	WSFS_ASK,
	/* It asks of all files; XFS refuses that on an idmapped mount. */
	WSFS_ASK_ALL,
	/* It writes: not by a read-only mount */
	WSFS_WRITE,
};

/*
 * docs/ioctls.md has them all, and why. None passes that takes or gives a file
 * of the lower (by fd or by handle): nobody is to hold one, and XFS must not be
 * given one of ours for its own. What the VFS answers itself (flags, reflink,
 * FIEMAP, preallocation, freezing) does not come here. Whether the caller may
 * the lower decides.
 */
static enum wsfs_pass wsfs_pass_xfs(unsigned int nr)
{
	switch (nr) {
	case 30:	/* XFS_IOC_DIOINFO */
	case 38:	/* XFS_IOC_GETBMAP */
	case 44:	/* XFS_IOC_GETBMAPA */
	case 45:	/* XFS_IOC_FSGETXATTRA */
	case 56:	/* XFS_IOC_GETBMAPX */
	case 58:	/* XFS_IOC_FREE_EOFBLOCKS */
	case 59:	/* FS_IOC_GETFSMAP */
	case 61:	/* XFS_IOC_AG_GEOMETRY */
	case 62:	/* XFS_IOC_GETPARENTS */
	case 65:	/* XFS_IOC_RTGROUP_GEOMETRY */
	case 68:	/* XFS_IOC_HEALTH_MONITOR */
	case 70:	/* XFS_IOC_VERIFY_MEDIA */
	case 100:	/* XFS_IOC_FSGEOMETRY_V1 */
	case 113:	/* XFS_IOC_FSCOUNTS */
	case 115:	/* XFS_IOC_GET_RESBLKS */
	case 116:	/* XFS_IOC_ERROR_INJECTION */
	case 117:	/* XFS_IOC_ERROR_CLEARALL */
	case 121:	/* FITRIM */
	case 124:	/* XFS_IOC_FSGEOMETRY_V4 */
	case 125:	/* XFS_IOC_GOINGDOWN */
	case 126:	/* XFS_IOC_FSGEOMETRY */
		return WSFS_ASK;
	case 101:	/* XFS_IOC_FSBULKSTAT */
	case 102:	/* XFS_IOC_FSBULKSTAT_SINGLE */
	case 103:	/* XFS_IOC_FSINUMBERS */
	case 127:	/* XFS_IOC_BULKSTAT */
	case 128:	/* XFS_IOC_INUMBERS */
		return WSFS_ASK_ALL;
	case 60:	/* XFS_IOC_SCRUB_METADATA */
	case 64:	/* XFS_IOC_SCRUBV_METADATA */
	case 110:	/* XFS_IOC_FSGROWFSDATA */
	case 111:	/* XFS_IOC_FSGROWFSLOG */
	case 112:	/* XFS_IOC_FSGROWFSRT */
	case 114:	/* XFS_IOC_SET_RESBLKS */
		return WSFS_WRITE;
	}
	return WSFS_REFUSE;
}

static enum wsfs_pass wsfs_pass(unsigned int cmd)
{
	switch (_IOC_TYPE(cmd)) {
	case 'X':
		return wsfs_pass_xfs(_IOC_NR(cmd));
	case 'v':
		/* FS_IOC_GETVERSION */
		return _IOC_NR(cmd) == 1 ? WSFS_ASK : WSFS_REFUSE;
	case 0x94:
		switch (_IOC_NR(cmd)) {
		case 49:	/* FS_IOC_GETFSLABEL */
			return WSFS_ASK;
		case 50:	/* FS_IOC_SETFSLABEL */
			return WSFS_WRITE;
		}
	}
	return WSFS_REFUSE;
}

static struct file *wsfs_ioctl_lower(struct file *file)
{
	const struct wsfs_file *wf = file->private_data;

	if (S_ISREG(file_inode(file)->i_mode))
		return wsfs_file_lower(file, false, false);
	return wf->lower;
}

typedef long (*wsfs_ioctl_fn)(struct file *file, unsigned int cmd,
			      unsigned long arg);

/* @compat: the caller is a 32-bit program */
static long wsfs_pass_down(struct file *file, unsigned int cmd,
			   unsigned long arg, bool compat)
{
	enum wsfs_pass pass = wsfs_pass(cmd);
	struct file *lower;
	wsfs_ioctl_fn fn;
	long ret;

	lower = wsfs_ioctl_lower(file);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	fn = compat ? lower->f_op->compat_ioctl : lower->f_op->unlocked_ioctl;
	if (!fn)
		return compat ? -ENOIOCTLCMD : -ENOTTY;
	if (pass == WSFS_ASK_ALL && file_mnt_idmap(file) != &nop_mnt_idmap)
		return capable(CAP_SYS_ADMIN) ? -EINVAL : -EPERM;
	if (pass != WSFS_WRITE)
		return fn(lower, cmd, arg);

	ret = mnt_want_write_file(file);
	/* All of it read-only: XFS says what it does even so. */
	if (ret == -EROFS && sb_rdonly(file_inode(lower)->i_sb))
		return fn(lower, cmd, arg);
	if (ret)
		return ret;
	ret = fn(lower, cmd, arg);
	mnt_drop_write_file(file);
	/* It may have grown. */
	if (!ret)
		wsfs_pool_refresh(WSFS_SB(file_inode(file)->i_sb));
	return ret;
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

	switch (cmd) {
	case FS_IOC_WRITE_STREAM_GET_MAX:
		return wsfs_ioc_get_max(file, uarg);
	case FS_IOC_WRITE_STREAM_ALLOC:
		return wsfs_ioc_alloc(file);
	case FS_IOC_WRITE_STREAM_SET:
		return wsfs_ioc_set(file, uarg);
	case FS_IOC_WRITE_STREAM:
	case FS_IOC_WRITE_STREAM_V2:
		return wsfs_numbered_ioctl(file, uarg);
	case WSFS_IOC_GEOMETRY:
		return wsfs_ioc_geometry(file, uarg);
	case WSFS_IOC_FILE_INFO:
		return wsfs_ioc_file_info(file, uarg);
	case WSFS_IOC_SET_DIR:
		return wsfs_ioc_set_dir(file, uarg);
	}
	if (wsfs_pass(cmd) == WSFS_REFUSE)
		return -ENOTTY;
	return wsfs_pass_down(file, cmd, arg, false);
}

#ifdef CONFIG_COMPAT
long wsfs_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	/* Our own structures look the same to 32-bit programs. */
	if (wsfs_pass(cmd) == WSFS_REFUSE)
		return wsfs_ioctl(file, cmd, (unsigned long)compat_ptr(arg));
	return wsfs_pass_down(file, cmd, arg, true);
}
#endif
