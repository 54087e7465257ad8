// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/fs/wsfs/DEV/: geometry and streams, one value a file. docs/interface.md
 * lists them.
 */

#include <linux/blkdev.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include "wsfs.h"

static struct kset *wsfs_kset;

/* A directory in sysfs; gone from there before @wsb goes. */
struct wsfs_kobj {
	struct kobject	kobj;
	struct wsfs_sb	*wsb;
	u32		id;	/* of the stream, in a stream's directory */
};

struct wsfs_attr {
	struct attribute attr;
	ssize_t (*show)(struct wsfs_sb *wsb, u32 id, char *buf);
};

#define WSFS_ATTR(_name) \
	static struct wsfs_attr wsfs_attr_##_name = { \
		.attr = { .name = #_name, .mode = 0444 }, \
		.show = wsfs_show_##_name, \
	}

static ssize_t wsfs_show_lower(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%s\n", wsb->lower_mnt->mnt_sb->s_type->name);
}
WSFS_ATTR(lower);

static ssize_t wsfs_show_blocksize(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lu\n", wsb->lower_mnt->mnt_sb->s_blocksize);
}
WSFS_ATTR(blocksize);

static ssize_t wsfs_show_agblocks(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%u\n", wsb->geo.agblocks);
}
WSFS_ATTR(agblocks);

static ssize_t wsfs_show_agcount(struct wsfs_sb *wsb, u32 id, char *buf)
{
	struct wsfs_geo geo;

	wsfs_pool_refresh(wsb);
	wsfs_pool_geo(wsb, &geo);
	return sysfs_emit(buf, "%u\n", geo.agcount);
}
WSFS_ATTR(agcount);

static ssize_t wsfs_show_streams(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%u\n", ws_pool_nr(wsb->pool));
}
WSFS_ATTR(streams);

static ssize_t wsfs_show_reserved(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%u\n", ws_pool_nr_reserved(wsb->pool));
}
WSFS_ATTR(reserved);

static ssize_t wsfs_show_hints_reset(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&wsb->hints_reset));
}
WSFS_ATTR(hints_reset);

static ssize_t wsfs_show_spread_homed(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&wsb->spread_homed));
}
WSFS_ATTR(spread_homed);

static ssize_t wsfs_show_spread_missed(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&wsb->spread_missed));
}
WSFS_ATTR(spread_missed);

static struct attribute *wsfs_sb_attrs[] = {
	&wsfs_attr_lower.attr,
	&wsfs_attr_blocksize.attr,
	&wsfs_attr_agblocks.attr,
	&wsfs_attr_agcount.attr,
	&wsfs_attr_streams.attr,
	&wsfs_attr_reserved.attr,
	&wsfs_attr_hints_reset.attr,
	&wsfs_attr_spread_homed.attr,
	&wsfs_attr_spread_missed.attr,
	NULL
};
ATTRIBUTE_GROUPS(wsfs_sb);

static ssize_t wsfs_show_ag_set(struct wsfs_sb *wsb, u32 id, char *buf)
{
	struct wsfs_geo geo;
	size_t len;

	wsfs_pool_geo(wsb, &geo);
	len = wsfs_geo_print_set(&geo, id, buf, PAGE_SIZE - 1);
	return len + sysfs_emit_at(buf, len, "\n");
}
WSFS_ATTR(ag_set);

static ssize_t wsfs_show_stream_reserved(struct wsfs_sb *wsb, u32 id,
					 char *buf)
{
	return sysfs_emit(buf, "%d\n", ws_stream_is_reserved(wsb->pool, id));
}

static struct wsfs_attr wsfs_attr_stream_reserved = {
	.attr = { .name = "reserved", .mode = 0444 },
	.show = wsfs_show_stream_reserved,
};

static ssize_t wsfs_show_files(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(wsb->streams[id].files));
}
WSFS_ATTR(files);

static ssize_t wsfs_show_homed(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&wsb->streams[id].homed));
}
WSFS_ATTR(homed);

static ssize_t wsfs_show_missed(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&wsb->streams[id].missed));
}
WSFS_ATTR(missed);

static ssize_t wsfs_show_anchored(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&wsb->streams[id].anchored));
}
WSFS_ATTR(anchored);

static ssize_t wsfs_show_overflowed(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&wsb->streams[id].overflowed));
}
WSFS_ATTR(overflowed);

static ssize_t wsfs_show_overflow_order(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return wsfs_turn_show_overflow(wsb, id, buf);
}
WSFS_ATTR(overflow_order);

static ssize_t wsfs_show_bytes(struct wsfs_sb *wsb, u32 id, char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  percpu_counter_sum_positive(&wsb->streams[id].bytes));
}
WSFS_ATTR(bytes);

static struct attribute *wsfs_stream_attrs[] = {
	&wsfs_attr_ag_set.attr,
	&wsfs_attr_stream_reserved.attr,
	&wsfs_attr_files.attr,
	&wsfs_attr_homed.attr,
	&wsfs_attr_missed.attr,
	&wsfs_attr_anchored.attr,
	&wsfs_attr_overflowed.attr,
	&wsfs_attr_overflow_order.attr,
	&wsfs_attr_bytes.attr,
	NULL
};
ATTRIBUTE_GROUPS(wsfs_stream);

static ssize_t wsfs_kobj_show(struct kobject *kobj, struct attribute *attr,
			      char *buf)
{
	struct wsfs_kobj *wk = container_of(kobj, struct wsfs_kobj, kobj);
	struct wsfs_attr *wa = container_of(attr, struct wsfs_attr, attr);

	return wa->show(wk->wsb, wk->id, buf);
}

static const struct sysfs_ops wsfs_sysfs_ops = {
	.show	= wsfs_kobj_show,
};

static void wsfs_kobj_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct wsfs_kobj, kobj));
}

static const struct kobj_type wsfs_sb_ktype = {
	.default_groups	= wsfs_sb_groups,
	.sysfs_ops	= &wsfs_sysfs_ops,
	.release	= wsfs_kobj_release,
};

static const struct kobj_type wsfs_stream_ktype = {
	.default_groups	= wsfs_stream_groups,
	.sysfs_ops	= &wsfs_sysfs_ops,
	.release	= wsfs_kobj_release,
};

static const struct kobj_type wsfs_plain_ktype = {
	.sysfs_ops	= &kobj_sysfs_ops,
	.release	= wsfs_kobj_release,
};

/**
 * wsfs_sysfs_name() - name of a superblock's directory below /sys/fs/wsfs
 * @wsb: the superblock
 * @buf: where to
 * @size: bytes of @buf
 *
 * The lower block device's name, or major:minor where there is none.
 */
void wsfs_sysfs_name(const struct wsfs_sb *wsb, char *buf, size_t size)
{
	const struct super_block *lower = wsb->lower_mnt->mnt_sb;

	if (lower->s_bdev)
		snprintf(buf, size, "%pg", lower->s_bdev);
	else
		snprintf(buf, size, "%u:%u", MAJOR(lower->s_dev),
			 MINOR(lower->s_dev));
}

static struct kobject *wsfs_kobj_add(struct wsfs_sb *wsb, u32 id,
				     const struct kobj_type *ktype,
				     struct kobject *parent, const char *name)
{
	struct wsfs_kobj *wk = kzalloc_obj(*wk);
	int err;

	if (!wk)
		return ERR_PTR(-ENOMEM);
	wk->wsb = wsb;
	wk->id = id;
	if (!parent)
		wk->kobj.kset = wsfs_kset;
	err = kobject_init_and_add(&wk->kobj, ktype, parent, "%s", name);
	if (err) {
		kobject_put(&wk->kobj);
		return ERR_PTR(err);
	}
	return &wk->kobj;
}

static void wsfs_kobj_del(struct kobject *kobj)
{
	if (!kobj)
		return;
	/* Returns when the last reader has left. */
	kobject_del(kobj);
	kobject_put(kobj);
}

/**
 * wsfs_sysfs_add() - show a superblock in sysfs
 * @wsb: the superblock, its streams set up
 *
 * Return: 0, or an error with part of it added; wsfs_sysfs_del() removes that.
 */
int wsfs_sysfs_add(struct wsfs_sb *wsb)
{
	struct kobject *kobj;
	char name[32];
	u32 id;

	wsfs_sysfs_name(wsb, name, sizeof(name));
	kobj = wsfs_kobj_add(wsb, 0, &wsfs_sb_ktype, NULL, name);
	if (IS_ERR(kobj))
		return PTR_ERR(kobj);
	wsb->kobj = kobj;
	kobj = wsfs_kobj_add(wsb, 0, &wsfs_plain_ktype, wsb->kobj, "stream");
	if (IS_ERR(kobj))
		return PTR_ERR(kobj);
	wsb->streams_kobj = kobj;
	for (id = 0; id < ws_pool_nr(wsb->pool); id++) {
		snprintf(name, sizeof(name), "%u", id);
		kobj = wsfs_kobj_add(wsb, id, &wsfs_stream_ktype,
				     wsb->streams_kobj, name);
		if (IS_ERR(kobj))
			return PTR_ERR(kobj);
		wsb->streams[id].kobj = kobj;
	}
	return 0;
}

/**
 * wsfs_sysfs_del() - take a superblock out of sysfs
 * @wsb: the superblock
 */
void wsfs_sysfs_del(struct wsfs_sb *wsb)
{
	u32 id;

	if (!wsb->kobj)
		return;
	for (id = 0; id < ws_pool_nr(wsb->pool); id++)
		wsfs_kobj_del(wsb->streams[id].kobj);
	wsfs_kobj_del(wsb->streams_kobj);
	wsfs_kobj_del(wsb->kobj);
	wsb->kobj = NULL;
}

int __init wsfs_sysfs_init(void)
{
	wsfs_kset = kset_create_and_add("wsfs", NULL, fs_kobj);
	return wsfs_kset ? 0 : -ENOMEM;
}

void wsfs_sysfs_exit(void)
{
	kset_unregister(wsfs_kset);
}
