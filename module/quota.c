// SPDX-License-Identifier: GPL-2.0
/*
 * quotactl_fd(2) on a wsfs mount: the lower's quota. (quotactl(2) names the
 * device, and so comes to the lower by itself.)
 */

#include <linux/fs.h>
#include <linux/quota.h>
#include "wsfs.h"

/*
 * The VFS holds the s_umount of wsfs, for writing when quota is switched, and
 * would hold that of the lower likewise; the two are of different classes.
 * What the lower does not do it answers as the VFS would.
 */
#define WSFS_QUOTA(_lock, _lower, _op, ...) ({ \
	const struct quotactl_ops *__ops = (_lower)->s_qcop; \
	int __ret = -ENOSYS; \
	\
	if (__ops->_op) { \
		down_##_lock(&(_lower)->s_umount); \
		__ret = __ops->_op(_lower, ##__VA_ARGS__); \
		up_##_lock(&(_lower)->s_umount); \
	} \
	__ret; \
})

static int wsfs_quota_enable(struct super_block *sb, unsigned int flags)
{
	return WSFS_QUOTA(write, wsfs_lower_sb(sb), quota_enable, flags);
}

static int wsfs_quota_disable(struct super_block *sb, unsigned int flags)
{
	return WSFS_QUOTA(write, wsfs_lower_sb(sb), quota_disable, flags);
}

static int wsfs_quota_rm(struct super_block *sb, unsigned int flags)
{
	return WSFS_QUOTA(read, wsfs_lower_sb(sb), rm_xquota, flags);
}

static int wsfs_quota_set_info(struct super_block *sb, int type,
			       struct qc_info *info)
{
	return WSFS_QUOTA(read, wsfs_lower_sb(sb), set_info, type, info);
}

static int wsfs_quota_get_dqblk(struct super_block *sb, struct kqid qid,
				struct qc_dqblk *blk)
{
	return WSFS_QUOTA(read, wsfs_lower_sb(sb), get_dqblk, qid, blk);
}

static int wsfs_quota_get_next(struct super_block *sb, struct kqid *qid,
			       struct qc_dqblk *blk)
{
	return WSFS_QUOTA(read, wsfs_lower_sb(sb), get_nextdqblk, qid, blk);
}

static int wsfs_quota_set_dqblk(struct super_block *sb, struct kqid qid,
				struct qc_dqblk *blk)
{
	return WSFS_QUOTA(read, wsfs_lower_sb(sb), set_dqblk, qid, blk);
}

static int wsfs_quota_get_state(struct super_block *sb, struct qc_state *state)
{
	return WSFS_QUOTA(read, wsfs_lower_sb(sb), get_state, state);
}

static const struct quotactl_ops wsfs_quotactl_ops = {
	.quota_enable	= wsfs_quota_enable,
	.quota_disable	= wsfs_quota_disable,
	.rm_xquota	= wsfs_quota_rm,
	.set_info	= wsfs_quota_set_info,
	.get_dqblk	= wsfs_quota_get_dqblk,
	.get_nextdqblk	= wsfs_quota_get_next,
	.set_dqblk	= wsfs_quota_set_dqblk,
	.get_state	= wsfs_quota_get_state,
};

/**
 * wsfs_quota_init() - pass quotactl_fd(2) down if the lower has quota
 * @sb: a wsfs superblock that is being filled
 */
void wsfs_quota_init(struct super_block *sb)
{
	const struct super_block *lower = wsfs_lower_sb(sb);

	if (!lower->s_qcop)
		return;
	sb->s_qcop = &wsfs_quotactl_ops;
	sb->s_quota_types = lower->s_quota_types;
}
