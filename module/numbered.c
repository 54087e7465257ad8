// SPDX-License-Identifier: GPL-2.0
/*
 * The earlier, numbered interface of the series: one ioctl, streams by number.
 *
 * A number is no reservation: everybody who numbers a stream alike shares it.
 * So these streams are set aside from those that are reserved, and only where
 * the mount says so (-o numbered).
 */

#include <linux/fs.h>
#include <linux/uaccess.h>
#include "../uapi/linux/write_streams_numbered.h"
#include "wsfs.h"

/* Id of the stream with number 1 */
static u32 wsfs_numbered_first(const struct wsfs_sb *wsb)
{
	return ws_pool_nr(wsb->pool) - wsb->numbered;
}

/* None for a file on the realtime device */
static u32 wsfs_numbered_max(struct file *file)
{
	return wsfs_steer_on_data(file) ?
	       WSFS_SB(file_inode(file)->i_sb)->numbered : 0;
}

/* The number of the file's stream; 0 for none, and for one that has no number */
static u32 wsfs_numbered_get(struct file *file)
{
	const struct inode *inode = file_inode(file);
	u32 first = wsfs_numbered_first(WSFS_SB(inode->i_sb)), id;

	if (S_ISDIR(inode->i_mode) || !wsfs_inode_stream(inode, &id) ||
	    id < first)
		return 0;
	return id - first + 1;
}

static int wsfs_numbered_set(struct file *file, u32 number)
{
	struct wsfs_sb *wsb = WSFS_SB(file_inode(file)->i_sb);

	if (!S_ISREG(file_inode(file)->i_mode) || number > wsb->numbered)
		return -EINVAL;
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!number)
		return wsfs_steer_clear(file);
	return wsfs_steer_set_ref(file,
				  ws_pool_aside_ref(wsb->pool,
						    wsfs_numbered_first(wsb) +
						    number - 1));
}

/**
 * wsfs_numbered_ioctl() - FS_IOC_WRITE_STREAM and FS_IOC_WRITE_STREAM_V2
 * @file: any open wsfs file
 * @arg: the argument
 *
 * Return: 0 or the errors of uapi/linux/write_streams_numbered.h.
 */
long wsfs_numbered_ioctl(struct file *file, struct fs_write_stream __user *arg)
{
	struct fs_write_stream stream;
	int err;

	if (!WSFS_SB(file_inode(file)->i_sb)->numbered)
		return -ENOTTY;
	if (copy_from_user(&stream, arg, sizeof(stream)))
		return -EFAULT;
	switch (stream.op_flags) {
	case FS_WRITE_STREAM_OP_GET_MAX:
		stream.max_streams = wsfs_numbered_max(file);
		break;
	case FS_WRITE_STREAM_OP_GET:
		stream.stream_id = wsfs_numbered_get(file);
		break;
	case FS_WRITE_STREAM_OP_SET:
		err = wsfs_numbered_set(file, stream.stream_id);
		if (err)
			return err;
		break;
	default:
		return -EINVAL;
	}
	return copy_to_user(arg, &stream, sizeof(stream)) ? -EFAULT : 0;
}
