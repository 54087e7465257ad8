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
 */
static int wsfs_quota_enable(struct super_block *sb, unsigned int flags)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_write(&lower->s_umount);
	err = lower->s_qcop->quota_enable(lower, flags);
	up_write(&lower->s_umount);
	return err;
}

static int wsfs_quota_disable(struct super_block *sb, unsigned int flags)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_write(&lower->s_umount);
	err = lower->s_qcop->quota_disable(lower, flags);
	up_write(&lower->s_umount);
	return err;
}

static int wsfs_quota_rm(struct super_block *sb, unsigned int flags)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_read(&lower->s_umount);
	err = lower->s_qcop->rm_xquota(lower, flags);
	up_read(&lower->s_umount);
	return err;
}

static int wsfs_quota_set_info(struct super_block *sb, int type,
			       struct qc_info *info)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_read(&lower->s_umount);
	err = lower->s_qcop->set_info(lower, type, info);
	up_read(&lower->s_umount);
	return err;
}

static int wsfs_quota_get_dqblk(struct super_block *sb, struct kqid qid,
				struct qc_dqblk *blk)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_read(&lower->s_umount);
	err = lower->s_qcop->get_dqblk(lower, qid, blk);
	up_read(&lower->s_umount);
	return err;
}

static int wsfs_quota_get_next(struct super_block *sb, struct kqid *qid,
			       struct qc_dqblk *blk)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_read(&lower->s_umount);
	err = lower->s_qcop->get_nextdqblk(lower, qid, blk);
	up_read(&lower->s_umount);
	return err;
}

static int wsfs_quota_set_dqblk(struct super_block *sb, struct kqid qid,
				struct qc_dqblk *blk)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_read(&lower->s_umount);
	err = lower->s_qcop->set_dqblk(lower, qid, blk);
	up_read(&lower->s_umount);
	return err;
}

static int wsfs_quota_get_state(struct super_block *sb, struct qc_state *state)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	down_read(&lower->s_umount);
	err = lower->s_qcop->get_state(lower, state);
	up_read(&lower->s_umount);
	return err;
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
 * wsfs_quota_init() - pass quotactl_fd(2) down if the lower has XFS's quota
 * @sb: a wsfs superblock that is being filled
 */
void wsfs_quota_init(struct super_block *sb)
{
	const struct super_block *lower = wsfs_lower_sb(sb);
	const struct quotactl_ops *ops = lower->s_qcop;

	/* XFS has all of them. */
	if (!ops || !ops->quota_enable || !ops->quota_disable ||
	    !ops->rm_xquota || !ops->set_info || !ops->get_dqblk ||
	    !ops->get_nextdqblk || !ops->set_dqblk || !ops->get_state)
		return;
	sb->s_qcop = &wsfs_quotactl_ops;
	sb->s_quota_types = lower->s_quota_types;
}
