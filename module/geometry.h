/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where things lie on an XFS: superblock -> allocation groups, inode or block
 * number -> AG, stream -> AG set -> AG.
 *
 * Pure arithmetic on a struct wsfs_geo, without locks and without the VFS.
 * Only wsfs_geo_parse() and wsfs_geo_grow() write to one; a reader that may
 * run beside wsfs_geo_grow() works on a copy of the struct that it took under
 * its own protection (RCU, seqcount).
 */
#ifndef _WSFS_GEOMETRY_H
#define _WSFS_GEOMETRY_H

#include <linux/types.h>

struct seq_file;

/* No such AG, no such stream: never a valid number of either. */
#define WSFS_GEO_NONE		((u32)~0U)

/* Bytes that hold every superblock sector XFS allows. */
#define WSFS_GEO_SECTOR_MAX	32768

/* streams= is at most this. */
#define WSFS_GEO_STREAMS_MAX	1024

/**
 * struct wsfs_geo - what wsfs has to know about an XFS
 * @dblocks: blocks of the data device
 * @blocksize: bytes of a block
 * @sectsize: bytes of a sector, as XFS uses it
 * @agblocks: blocks of an AG (the last one may be shorter); 0 where there is
 *	no XFS, and then every AG is %WSFS_GEO_NONE and every set empty
 * @agcount: number of AGs
 * @base_agcount: AGs at the time the sets were laid out; the AGs from here to
 *	@agcount were added while a stream was reserved
 * @streams: number of streams, 0 for none
 * @logblocks: blocks of the internal log, 0 with an external one. statfs(2)
 *	shows @dblocks - @logblocks as f_blocks.
 * @blocklog: log2 of @blocksize
 * @agblklog: log2 of @agblocks, rounded up
 * @inodelog: log2 of the bytes of an inode
 * @inopblog: log2 of the inodes in a block
 * @uuid: the filesystem's UUID
 * @realtime: there is a realtime volume
 * @rtgroups: it is divided into groups (metadir)
 * @reflink: files can share blocks
 * @rmapbt: blocks know their owners
 * @ascii_ci: names that differ in case only are the same
 */
struct wsfs_geo {
	u64	dblocks;
	u32	blocksize;
	u32	sectsize;
	u32	agblocks;
	u32	agcount;
	u32	base_agcount;
	u32	streams;
	u32	logblocks;
	u8	blocklog;
	u8	agblklog;
	u8	inodelog;
	u8	inopblog;
	u8	uuid[16];
	bool	realtime;
	bool	rtgroups;
	bool	reflink;
	bool	rmapbt;
	bool	ascii_ci;
};

int wsfs_geo_parse(struct wsfs_geo *geo, const void *sector, size_t len,
		   u64 bytes);
bool wsfs_geo_grow(struct wsfs_geo *geo, u64 dblocks, bool idle);

u32 wsfs_geo_ino_to_agno(const struct wsfs_geo *geo, u64 ino);
u32 wsfs_geo_block_to_agno(const struct wsfs_geo *geo, u64 block);
u32 wsfs_geo_byte_to_agno(const struct wsfs_geo *geo, u64 byte);

u32 wsfs_geo_default_streams(u32 agcount);

u32 wsfs_geo_set_size(const struct wsfs_geo *geo, u32 stream);
u32 wsfs_geo_set_nth(const struct wsfs_geo *geo, u32 stream, u32 n);
bool wsfs_geo_set_contains(const struct wsfs_geo *geo, u32 stream, u32 agno);
u32 wsfs_geo_owner(const struct wsfs_geo *geo, u32 agno);

size_t wsfs_geo_print_set(const struct wsfs_geo *geo, u32 stream, char *buf,
			  size_t size);
void wsfs_geo_show_set(struct seq_file *m, const struct wsfs_geo *geo,
		       u32 stream);

#endif /* _WSFS_GEOMETRY_H */
