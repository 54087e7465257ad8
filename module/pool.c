// SPDX-License-Identifier: GPL-2.0
/*
 * The streams of a mount: how many there are, by the geometry of the XFS below,
 * which of them are set aside, and what is counted of each.
 */

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include "../uapi/linux/wsfs.h"
#include "wsfs.h"
#include "trace.h"

/* The lower is asked for its size at most so often by SET. */
#define WSFS_REFRESH_INTERVAL	HZ

static bool wsfs_lower_is_xfs(const struct super_block *lower)
{
	return lower->s_magic == XFS_SUPER_MAGIC && lower->s_bdev &&
	       !strcmp(lower->s_type->name, "xfs");
}

/* Past the device's page cache, which XFS does not keep in step. */
static int wsfs_read_sector(struct block_device *bdev, struct page *page)
{
	struct bio_vec bvec;
	struct bio bio;
	int err;

	bio_init(&bio, bdev, &bvec, 1, REQ_OP_READ);
	bio.bi_iter.bi_sector = 0;
	__bio_add_page(&bio, page, WSFS_GEO_SECTOR_MAX, 0);
	err = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return err;
}

static int wsfs_read_geo(struct block_device *bdev, struct wsfs_geo *geo)
{
	struct page *page = alloc_pages(GFP_KERNEL,
					get_order(WSFS_GEO_SECTOR_MAX));
	int err;

	if (!page)
		return -ENOMEM;
	err = wsfs_read_sector(bdev, page);
	if (!err)
		err = wsfs_geo_parse(geo, page_address(page),
				     WSFS_GEO_SECTOR_MAX,
				     bdev_nr_bytes(bdev));
	__free_pages(page, get_order(WSFS_GEO_SECTOR_MAX));
	return err;
}

/* XFS tells of -o filestreams and -o grpid in no other way. */
static bool wsfs_lower_has_option(struct super_block *lower, const char *option)
{
	struct seq_file m = { .size = PAGE_SIZE };
	bool ret = false;

	m.buf = kzalloc(m.size, GFP_KERNEL);
	if (m.buf && lower->s_op->show_options &&
	    !lower->s_op->show_options(&m, lower->s_root) &&
	    m.count < m.size) {
		m.buf[m.count] = 0;
		ret = strstr(m.buf, option);
	}
	kfree(m.buf);
	return ret;
}

static void wsfs_pool_reserved(struct ws_pool *pool, u32 id)
{
	struct wsfs_sb *wsb = pool->private;

	wsb->streams[id].files = 0;
	percpu_counter_set(&wsb->streams[id].bytes, 0);
	trace_wsfs_alloc(wsb, id);
}

static void wsfs_pool_released(struct ws_pool *pool, u32 id)
{
	struct wsfs_sb *wsb = pool->private;

	trace_wsfs_release(wsb, id, wsb->streams[id].files);
	wsb->streams[id].files = 0;
}

static void wsfs_pool_show_fdinfo(struct seq_file *m, struct ws_pool *pool,
				  u32 id)
{
	struct wsfs_sb *wsb = pool->private;
	char dev[WSFS_DEV_NAME_LEN];

	/* The pool is killed before the lower mount goes. */
	wsfs_sysfs_name(wsb, dev, sizeof(dev));
	seq_puts(m, "ag_set:\t");
	wsfs_geo_show_set(m, &wsb->geo, id);
	seq_printf(m, "\nfiles:\t%u\nbytes:\t%lld\ndev:\t%s\n",
		   wsb->streams[id].files,
		   percpu_counter_sum_positive(&wsb->streams[id].bytes), dev);
}

static const struct ws_pool_ops wsfs_pool_ops = {
	.reserved	= wsfs_pool_reserved,
	.released	= wsfs_pool_released,
	.show_fdinfo	= wsfs_pool_show_fdinfo,
};

static int wsfs_choose_streams(struct super_block *sb, struct fs_context *fc)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	struct wsfs_sb *wsb = WSFS_SB(sb);
	int err = -EOPNOTSUPP;

	if (wsfs_lower_is_xfs(lower))
		err = wsfs_read_geo(lower->s_bdev, &wsb->geo);
	if (err == -EOPNOTSUPP) {
		/* Not XFS, or a version that has no checksums (V4) */
		if (wsb->opt_streams > 0)
			return invalf(fc, "%s: streams=%d needs XFS version 5 below, this is %s",
				      fc->source, wsb->opt_streams,
				      lower->s_type->name);
		pr_info("wsfs (%s): no XFS version 5 below but %s, no write streams\n",
			sb->s_id, lower->s_type->name);
		memset(&wsb->geo, 0, sizeof(wsb->geo));
		return 0;
	}
	if (err) {
		errorf(fc, "%s: the XFS superblock on %pg is not usable (%d); run xfs_repair -n",
		       fc->source, lower->s_bdev, err);
		memset(&wsb->geo, 0, sizeof(wsb->geo));
		return err;
	}
	/* Its .WSFS would be reached, and no name be found valid. */
	if (wsb->geo.ascii_ci)
		return invalf(fc, "%s: an XFS that ignores case (version=ci) cannot be stacked on",
			      fc->source);
	wsb->geo.streams = wsb->opt_streams >= 0 ? wsb->opt_streams :
			   wsfs_geo_default_streams(wsb->geo.agcount);
	wsb->filestreams = wsfs_lower_has_option(lower, ",filestreams");
	wsb->grpid = wsfs_lower_has_option(lower, ",grpid");
	return 0;
}

/* How many streams are wanted by an option that may leave it to us */
static u32 wsfs_share(int opt, u32 by_default)
{
	return opt == WSFS_SHARE_DEFAULT ? by_default : max(opt, 0);
}

/* What hints and numbered get of the streams; the rest is offered. */
static int wsfs_choose_shares(struct wsfs_sb *wsb, struct fs_context *fc)
{
	u32 nr = wsb->geo.streams, hints, numbered;

	hints = wsfs_share(wsb->opt_hints, min(nr / 2, WSFS_HINTS_MAX));
	numbered = wsfs_share(wsb->opt_numbered, max(nr - hints, 1) / 2);
	if ((wsb->opt_hints != -1 && !hints) ||
	    (wsb->opt_numbered != -1 && !numbered) || hints + numbered > nr)
		return invalf(fc, "%s: %u streams, too few for hints and numbered: raise streams=",
			      fc->source, nr);
	wsb->hints = hints;
	wsb->numbered = numbered;
	return 0;
}

/**
 * wsfs_pool_init() - find the geometry and set up the streams
 * @sb: a wsfs superblock that is being filled
 * @fc: takes the message when it fails
 *
 * Return: 0; EINVAL for streams= over something other than XFS, or for shares
 * that are more than there is; EUCLEAN or EINVAL for a superblock that cannot
 * be trusted; EIO; ENOMEM.
 */
int wsfs_pool_init(struct super_block *sb, struct fs_context *fc)
{
	struct wsfs_sb *wsb = WSFS_SB(sb);
	u32 i, nr;
	int err;

	err = wsfs_choose_streams(sb, fc) ?: wsfs_choose_shares(wsb, fc);
	if (err)
		return err;

	nr = wsb->geo.streams;
	wsb->streams = kvcalloc(max(nr, 1), sizeof(*wsb->streams), GFP_KERNEL);
	if (!wsb->streams)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		err = percpu_counter_init(&wsb->streams[i].bytes, 0,
					  GFP_KERNEL);
		if (err)
			goto out_counters;
	}
	wsb->pool = ws_pool_alloc(nr, &wsfs_pool_ops, wsb);
	if (IS_ERR_OR_NULL(wsb->pool)) {
		wsb->pool = NULL;
		err = -ENOMEM;
		goto out_counters;
	}
	ws_pool_set_aside(wsb->pool, wsb->hints + wsb->numbered);
	return 0;

out_counters:
	while (i--)
		percpu_counter_destroy(&wsb->streams[i].bytes);
	kvfree(wsb->streams);
	wsb->streams = NULL;
	return err;
}

/**
 * wsfs_pool_exit() - undo wsfs_pool_init()
 * @wsb: a wsfs superblock whose inodes are gone; may never have been filled
 *
 * Stream fds that are still open go on to exist and mean nothing any more.
 */
void wsfs_pool_exit(struct wsfs_sb *wsb)
{
	u32 i;

	if (!wsb->pool)
		return;
	ws_pool_kill(wsb->pool);
	for (i = 0; i < ws_pool_nr(wsb->pool); i++)
		percpu_counter_destroy(&wsb->streams[i].bytes);
	kvfree(wsb->streams);
	ws_pool_put(wsb->pool);
}

/**
 * wsfs_pool_geo() - a copy of the geometry
 * @wsb: the superblock
 * @geo: where to
 */
void wsfs_pool_geo(struct wsfs_sb *wsb, struct wsfs_geo *geo)
{
	spin_lock(&wsb->pool->lock);
	*geo = wsb->geo;
	spin_unlock(&wsb->pool->lock);
}

/**
 * wsfs_pool_refresh() - notice that the lower has grown
 * @wsb: the superblock
 *
 * May sleep. AG sets are laid out anew only while no stream is reserved.
 */
void wsfs_pool_refresh(struct wsfs_sb *wsb)
{
	struct kstatfs st;
	u64 dblocks;

	if (!wsb->geo.agblocks)
		return;
	wsb->refreshed = jiffies;
	if (wsfs_home_statfs(wsb, &st))
		return;
	spin_lock(&wsb->pool->lock);
	/* What xfs_fs_statfs() takes off is the internal log. */
	dblocks = st.f_blocks + wsb->geo.logblocks;
	if (dblocks >= wsb->geo.dblocks)
		wsfs_geo_grow(&wsb->geo, dblocks, !ws_pool_is_busy(wsb->pool));
	spin_unlock(&wsb->pool->lock);
}

/**
 * wsfs_pool_refresh_due() - the same, at most once in a second
 * @wsb: the superblock
 */
void wsfs_pool_refresh_due(struct wsfs_sb *wsb)
{
	if (time_after(jiffies, READ_ONCE(wsb->refreshed) +
				WSFS_REFRESH_INTERVAL))
		wsfs_pool_refresh(wsb);
}
