// SPDX-License-Identifier: GPL-2.0
/*
 * Errors that the lower reports to fanotify (FAN_FS_ERROR).
 *
 * It reports them on its own superblock, where those who watch wsfs have no mark.
 * So wsfs has one there, and says the same again on its own superblock. Kernels
 * without <linux/fserror.h> have no XFS that reports; and filesystems may hold
 * locks there that looking up an inode would wait for.
 */
#include "wsfs.h"

#if WSFS_HAS_FSERROR
#include <linux/fsnotify.h>

struct wsfs_error_mark {
	struct fsnotify_mark	mark;
	struct super_block	*sb;	/* of wsfs; outlives the mark */
};

static struct fsnotify_group *wsfs_error_group;

/* Called by a worker of the lower, which holds no lock. */
static int wsfs_error_event(struct fsnotify_group *group, u32 mask,
			    const void *data, int data_type, struct inode *dir,
			    const struct qstr *name, u32 cookie,
			    struct fsnotify_iter_info *iter_info)
{
	const struct fs_error_report *lower =
		fsnotify_data_error_report(data, data_type);
	struct fsnotify_mark *mark = iter_info->marks[FSNOTIFY_ITER_TYPE_SB];
	struct fs_error_report report;

	if (!lower || !mark)
		return 0;
	report.error = lower->error;
	report.sb = container_of(mark, struct wsfs_error_mark, mark)->sb;
	report.inode = lower->inode ?
		       wsfs_ilookup(report.sb, lower->inode) : NULL;
	fsnotify(FS_ERROR, &report, FSNOTIFY_EVENT_ERROR, NULL, NULL, NULL, 0);
	iput(report.inode);
	return 0;
}

static void wsfs_error_mark_free(struct fsnotify_mark *mark)
{
	kfree(container_of(mark, struct wsfs_error_mark, mark));
}

static const struct fsnotify_ops wsfs_error_ops = {
	.handle_event	= wsfs_error_event,
	.free_mark	= wsfs_error_mark_free,
};

/**
 * wsfs_fserror_add() - hear of the errors of a superblock's lower
 * @sb: a wsfs superblock that is being filled
 *
 * Return: 0 or a negative errno; wsfs_fserror_del() may be called either way.
 */
int wsfs_fserror_add(struct super_block *sb)
{
	struct wsfs_error_mark *mark = kzalloc_obj(*mark);
	int err;

	if (!mark)
		return -ENOMEM;
	fsnotify_init_mark(&mark->mark, wsfs_error_group);
	mark->mark.mask = FS_ERROR;
	mark->sb = sb;
	err = fsnotify_add_mark(&mark->mark, wsfs_lower_sb(sb),
				FSNOTIFY_OBJ_TYPE_SB, 0);
	if (err)
		fsnotify_put_mark(&mark->mark);
	else
		WSFS_SB(sb)->error_mark = &mark->mark;
	return err;
}

/**
 * wsfs_fserror_del() - nothing is reported on the superblock any more
 * @wsb: of a superblock that still has its inodes
 */
void wsfs_fserror_del(struct wsfs_sb *wsb)
{
	if (!wsb->error_mark)
		return;
	fsnotify_destroy_mark(wsb->error_mark, wsfs_error_group);
	fsnotify_put_mark(wsb->error_mark);
	wsb->error_mark = NULL;
	/* Somebody may be in wsfs_error_event() yet. */
	fsnotify_wait_marks_destroyed();
}

/**
 * wsfs_fserror_init() - for the module's life time
 *
 * Return: 0 or a negative errno
 */
int __init wsfs_fserror_init(void)
{
	wsfs_error_group = fsnotify_alloc_group(&wsfs_error_ops, 0);
	return PTR_ERR_OR_ZERO(wsfs_error_group);
}

/** wsfs_fserror_exit() - undo wsfs_fserror_init() */
void wsfs_fserror_exit(void)
{
	fsnotify_put_group(wsfs_error_group);
}

#endif
