/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: who gets a stream, which file, and where it goes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM wsfs

#if !defined(_WSFS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _WSFS_TRACE_H

#include <linux/tracepoint.h>
#include "wsfs.h"

/* A stream was reserved. */
TRACE_EVENT(wsfs_alloc,
	TP_PROTO(const struct wsfs_sb *wsb, u32 id),
	TP_ARGS(wsb, id),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, id)
	),
	TP_fast_assign(
		__entry->dev = wsb->lower_mnt->mnt_sb->s_dev;
		__entry->id = id;
	),
	TP_printk("lower %d:%d stream %u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->id)
);

/* The last copy of a stream's fd was closed. */
TRACE_EVENT(wsfs_release,
	TP_PROTO(const struct wsfs_sb *wsb, u32 id, u32 files),
	TP_ARGS(wsb, id, files),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, id)
		__field(u32, files)
	),
	TP_fast_assign(
		__entry->dev = wsb->lower_mnt->mnt_sb->s_dev;
		__entry->id = id;
		__entry->files = files;
	),
	TP_printk("lower %d:%d stream %u files %u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->id,
		  __entry->files)
);

/* A file was given a stream, placed or not. */
TRACE_EVENT(wsfs_set,
	TP_PROTO(const struct inode *inode, u32 id),
	TP_ARGS(inode, id),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(u32, id)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->id = id;
	),
	TP_printk("dev %d:%d ino %llu stream %u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino,
		  __entry->id)
);

/* A file lies where its stream lives. */
TRACE_EVENT(wsfs_home,
	TP_PROTO(const struct inode *inode, u32 id, u32 agno),
	TP_ARGS(inode, id, agno),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(u32, id)
		__field(u32, agno)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->id = id;
		__entry->agno = agno;
	),
	TP_printk("dev %d:%d ino %llu stream %u agno %u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino,
		  __entry->id, __entry->agno)
);

/* The end of a file with data has come there; from @pos on it was moved. */
TRACE_EVENT(wsfs_anchor,
	TP_PROTO(const struct inode *inode, u32 id, u32 agno, loff_t pos),
	TP_ARGS(inode, id, agno, pos),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(u32, id)
		__field(u32, agno)
		__field(loff_t, pos)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->id = id;
		__entry->agno = agno;
		__entry->pos = pos;
	),
	TP_printk("dev %d:%d ino %llu stream %u agno %u pos %lld",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino,
		  __entry->id, __entry->agno, __entry->pos)
);

/* A file does not, and why. */
TRACE_EVENT(wsfs_miss,
	TP_PROTO(const struct inode *inode, u32 id, const char *why),
	TP_ARGS(inode, id, why),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(u32, id)
		__string(why, why)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->id = id;
		__assign_str(why);
	),
	TP_printk("dev %d:%d ino %llu stream %u: %s",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino,
		  __entry->id, __get_str(why))
);

/* A direct write of parts of blocks is issued in pieces. */
TRACE_EVENT(wsfs_subblock,
	TP_PROTO(const struct inode *inode, loff_t pos, size_t count,
		 unsigned int pieces),
	TP_ARGS(inode, pos, count, pieces),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(loff_t, pos)
		__field(size_t, count)
		__field(unsigned int, pieces)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->pos = pos;
		__entry->count = count;
		__entry->pieces = pieces;
	),
	TP_printk("dev %d:%d ino %llu pos %lld bytes %zu pieces %u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino,
		  __entry->pos, __entry->count, __entry->pieces)
);

/* One of them, and whether the lower took it in parallel mode. */
TRACE_EVENT(wsfs_piece,
	TP_PROTO(const struct inode *inode, loff_t pos, size_t count,
		 bool parallel),
	TP_ARGS(inode, pos, count, parallel),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(loff_t, pos)
		__field(size_t, count)
		__field(bool, parallel)
	),
	TP_fast_assign(
		__entry->dev = inode->i_sb->s_dev;
		__entry->ino = inode->i_ino;
		__entry->pos = pos;
		__entry->count = count;
		__entry->parallel = parallel;
	),
	TP_printk("dev %d:%d ino %llu pos %lld bytes %zu parallel %d",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino,
		  __entry->pos, __entry->count, __entry->parallel)
);

#endif /* _WSFS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
