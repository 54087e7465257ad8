// SPDX-License-Identifier: GPL-2.0
/*
 * Where things lie on an XFS, see geometry.h.
 *
 * AG sets. With S streams over A AGs, S <= A, stream i owns the A/S AGs from
 * i * (A/S) on, and the last stream the remainder too. With S > A stream i
 * owns AG i mod A, together with others. That is the *base*, laid out while no
 * stream was reserved. AGs that come while one is reserved are dealt to the
 * streams in turn, the first of them to stream 0. Each of them has one owner,
 * which depends on nothing but its distance from the base; so no AG changes
 * its owner, however often the filesystem grows and by however little. The next
 * wsfs_geo_grow() that finds the streams idle makes all AGs the base again.
 */

#include <linux/bits.h>
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "geometry.h"

/*
 * The primary superblock: offsets and values as "XFS Algorithms & Data
 * Structures", Superblocks, gives them. Big endian, the checksum little endian.
 */
#define SB_MAGICNUM		0
#define SB_BLOCKSIZE		4
#define SB_DBLOCKS		8
#define SB_RBLOCKS		16
#define SB_UUID			32
#define SB_LOGSTART		48
#define SB_AGBLOCKS		84
#define SB_AGCOUNT		88
#define SB_LOGBLOCKS		96
#define SB_VERSIONNUM		100
#define SB_SECTSIZE		102
#define SB_INODESIZE		104
#define SB_INOPBLOCK		106
#define SB_BLOCKLOG		120
#define SB_SECTLOG		121
#define SB_INODELOG		122
#define SB_INOPBLOG		123
#define SB_AGBLKLOG		124
#define SB_INPROGRESS		126
#define SB_FEATURES_RO_COMPAT	212
#define SB_FEATURES_INCOMPAT	216
#define SB_CRC			224

#define SB_MAGIC		0x58465342	/* "XFSB" */
#define SB_VERSION_MASK		0x000f
#define SB_VERSION_CRC		5
#define SB_VERSION_ASCII_CI	0x4000	/* XFS_SB_VERSION_BORGBIT */
#define SB_RO_COMPAT_RMAPBT	BIT(1)
#define SB_RO_COMPAT_REFLINK	BIT(2)
#define SB_INCOMPAT_METADIR	BIT(8)

#define MIN_SECTSIZE		512
#define MIN_BLOCKSIZE		1024		/* with checksums */
#define MAX_BLOCKSIZE		65536
#define MIN_INODESIZE		256
#define MAX_INODESIZE		2048
#define MIN_AG_BYTES		BIT_ULL(24)
#define MAX_AG_BYTES		BIT_ULL(40)
#define MIN_AG_BLOCKS		64		/* of the last, shorter one */

/* A size and the log2 that stands beside it agree and are in range. */
static bool size_ok(u32 size, u8 log, u32 min, u32 max)
{
	return size >= min && size <= max && is_power_of_2(size) &&
	       ilog2(size) == log;
}

static u64 ags_of(u64 blocks, u32 agblocks)
{
	u32 rest;
	u64 ags = div_u64_rem(blocks, agblocks, &rest);

	return ags + !!rest;
}

static bool sb_crc_ok(const u8 *sb, u32 sectsize)
{
	static const __le32 zero;
	u32 crc = crc32c(~0U, sb, SB_CRC);

	crc = crc32c(crc, &zero, sizeof(zero));
	crc = crc32c(crc, sb + SB_CRC + sizeof(zero),
		     sectsize - SB_CRC - sizeof(zero));
	return ~crc == get_unaligned_le32(sb + SB_CRC);
}

/* The sizes, and what is derived from them alone. */
static bool sb_parse_sizes(struct wsfs_geo *geo, const u8 *sb)
{
	u32 inodesize = get_unaligned_be16(sb + SB_INODESIZE);

	geo->blocksize = get_unaligned_be32(sb + SB_BLOCKSIZE);
	geo->blocklog = sb[SB_BLOCKLOG];
	if (!size_ok(geo->blocksize, geo->blocklog, MIN_BLOCKSIZE,
		     MAX_BLOCKSIZE))
		return false;

	geo->inodelog = sb[SB_INODELOG];
	geo->inopblog = sb[SB_INOPBLOG];
	return size_ok(inodesize, geo->inodelog, MIN_INODESIZE,
		       MAX_INODESIZE) &&
	       geo->inopblog == geo->blocklog - geo->inodelog &&
	       get_unaligned_be16(sb + SB_INOPBLOCK) == 1 << geo->inopblog;
}

/* The AGs, with sizes that were found good, on a device of so many bytes. */
static bool sb_parse_ags(struct wsfs_geo *geo, const u8 *sb, u64 bytes)
{
	u64 agbytes;

	geo->dblocks = get_unaligned_be64(sb + SB_DBLOCKS);
	geo->agblocks = get_unaligned_be32(sb + SB_AGBLOCKS);
	geo->agcount = get_unaligned_be32(sb + SB_AGCOUNT);
	geo->agblklog = sb[SB_AGBLKLOG];

	agbytes = (u64)geo->agblocks << geo->blocklog;
	if (agbytes < MIN_AG_BYTES || agbytes > MAX_AG_BYTES ||
	    geo->agblklog != order_base_2(geo->agblocks))
		return false;

	if (geo->dblocks > bytes >> geo->blocklog ||
	    ags_of(geo->dblocks, geo->agblocks) != geo->agcount ||
	    geo->agcount == 0)
		return false;

	return geo->dblocks - (u64)(geo->agcount - 1) * geo->agblocks >=
	       MIN_AG_BLOCKS;
}

/**
 * wsfs_geo_parse() - read the geometry from a primary superblock
 * @geo: where to store it; untouched on error. All AGs are base, and @streams
 *	is 0 for the caller to set.
 * @sector: what the device holds from its first byte on; any alignment
 * @len: bytes at @sector; %WSFS_GEO_SECTOR_MAX always suffice, else what is
 *	missing makes the superblock a damaged one
 * @bytes: size of the device
 *
 * Believes nothing before it was checked. Feature bits that it does not know
 * are no obstacle: the lower XFS understood them when it mounted, and the worst
 * that a wrong AG number does is to place a file where it need not be.
 *
 * Return: 0, or
 * * %-EINVAL - not an XFS
 * * %-EOPNOTSUPP - an XFS without a checksum (V4, deprecated), or of a version
 *   still unknown; nothing here can be verified
 * * %-EUCLEAN - damaged
 */
int wsfs_geo_parse(struct wsfs_geo *geo, const void *sector, size_t len,
		   u64 bytes)
{
	struct wsfs_geo new = {};
	const u8 *sb = sector;
	u32 ro_compat, incompat;

	if (len < sizeof(u32) || get_unaligned_be32(sb + SB_MAGICNUM) != SB_MAGIC)
		return -EINVAL;
	if (len < MIN_SECTSIZE)
		return -EUCLEAN;
	if ((get_unaligned_be16(sb + SB_VERSIONNUM) & SB_VERSION_MASK) !=
	    SB_VERSION_CRC)
		return -EOPNOTSUPP;

	new.sectsize = get_unaligned_be16(sb + SB_SECTSIZE);
	if (!size_ok(new.sectsize, sb[SB_SECTLOG], MIN_SECTSIZE,
		     WSFS_GEO_SECTOR_MAX) ||
	    new.sectsize > len || !sb_crc_ok(sb, new.sectsize))
		return -EUCLEAN;

	if (sb[SB_INPROGRESS] || !sb_parse_sizes(&new, sb) ||
	    !sb_parse_ags(&new, sb, bytes))
		return -EUCLEAN;

	if (get_unaligned_be64(sb + SB_LOGSTART)) {
		new.logblocks = get_unaligned_be32(sb + SB_LOGBLOCKS);
		if (new.logblocks >= new.dblocks)
			return -EUCLEAN;
	}

	ro_compat = get_unaligned_be32(sb + SB_FEATURES_RO_COMPAT);
	incompat = get_unaligned_be32(sb + SB_FEATURES_INCOMPAT);
	new.realtime = get_unaligned_be64(sb + SB_RBLOCKS) != 0;
	new.rtgroups = new.realtime && (incompat & SB_INCOMPAT_METADIR);
	new.reflink = ro_compat & SB_RO_COMPAT_REFLINK;
	new.rmapbt = ro_compat & SB_RO_COMPAT_RMAPBT;
	new.ascii_ci = get_unaligned_be16(sb + SB_VERSIONNUM) &
		       SB_VERSION_ASCII_CI;
	memcpy(new.uuid, sb + SB_UUID, sizeof(new.uuid));
	new.base_agcount = new.agcount;

	*geo = new;
	return 0;
}

/**
 * wsfs_geo_grow() - follow xfs_growfs
 * @geo: the geometry
 * @dblocks: blocks of the data device now. No source of it is above
 *	suspicion, so a number that makes no sense changes nothing, like one
 *	that takes AGs away, which XFS never does.
 * @idle: no stream is reserved, so AGs may change their owners
 *
 * Calling it again with the same @dblocks and @idle true lays the sets out
 * anew after growth that came while a stream was reserved.
 *
 * Return: true when an AG set changed.
 */
bool wsfs_geo_grow(struct wsfs_geo *geo, u64 dblocks, bool idle)
{
	u32 agcount = geo->agcount, base = geo->base_agcount;
	u64 ags;

	if (!geo->agblocks)
		return false;

	ags = ags_of(dblocks, geo->agblocks);
	if (ags >= agcount && ags < WSFS_GEO_NONE) {
		geo->dblocks = dblocks;
		geo->agcount = ags;
	}
	if (idle)
		geo->base_agcount = geo->agcount;
	return geo->agcount != agcount || geo->base_agcount != base;
}

/**
 * wsfs_geo_ino_to_agno() - the AG of an inode
 * @geo: the geometry
 * @ino: number of the inode
 *
 * Return: the AG, also one past @geo->agcount (the filesystem has grown), or
 * %WSFS_GEO_NONE.
 */
u32 wsfs_geo_ino_to_agno(const struct wsfs_geo *geo, u64 ino)
{
	if (!geo->agblocks)
		return WSFS_GEO_NONE;
	return min_t(u64, ino >> (geo->agblklog + geo->inopblog),
		     WSFS_GEO_NONE);
}

/**
 * wsfs_geo_block_to_agno() - the AG of a block
 * @geo: the geometry
 * @block: number of the block in the device's order, as bmap and FIEMAP count;
 *	not one of XFS's own sparse block numbers
 *
 * Return: the AG, also one past @geo->agcount (the filesystem has grown), or
 * %WSFS_GEO_NONE.
 */
u32 wsfs_geo_block_to_agno(const struct wsfs_geo *geo, u64 block)
{
	if (!geo->agblocks)
		return WSFS_GEO_NONE;
	return min_t(u64, div_u64(block, geo->agblocks), WSFS_GEO_NONE);
}

/**
 * wsfs_geo_byte_to_agno() - the AG of a byte of the device
 * @geo: the geometry
 * @byte: offset from the start of the device, as FIEMAP shows it
 *
 * Return: as wsfs_geo_block_to_agno().
 */
u32 wsfs_geo_byte_to_agno(const struct wsfs_geo *geo, u64 byte)
{
	return wsfs_geo_block_to_agno(geo, byte >> geo->blocklog);
}

/**
 * wsfs_geo_default_streams() - number of streams when nobody asked for one
 * @agcount: number of AGs
 *
 * Return: A/4 from 32 AGs on, so that a set still spreads its files, A/2 from 8,
 * else A; at most 16.
 */
u32 wsfs_geo_default_streams(u32 agcount)
{
	if (agcount >= 32)
		agcount /= 4;
	else if (agcount >= 8)
		agcount /= 2;
	return min(agcount, 16U);
}

/* The base part of a set: @size AGs from @first on. */
static u32 base_set(const struct wsfs_geo *geo, u32 stream, u32 *first)
{
	u32 each = geo->base_agcount / geo->streams;

	if (!each) {
		*first = stream % geo->base_agcount;
		return 1;
	}
	*first = stream * each;
	if (stream == geo->streams - 1)
		return geo->base_agcount - *first;
	return each;
}

/* Is there such a stream, and are there AGs to own? */
static bool has_set(const struct wsfs_geo *geo, u32 stream)
{
	return stream < geo->streams && geo->base_agcount;
}

/**
 * wsfs_geo_set_size() - number of AGs in a stream's set
 * @geo: the geometry
 * @stream: the stream
 *
 * Return: at least 1, but 0 for a stream that does not exist.
 */
u32 wsfs_geo_set_size(const struct wsfs_geo *geo, u32 stream)
{
	u32 grown = geo->agcount - geo->base_agcount;
	u32 first;

	if (!has_set(geo, stream))
		return 0;
	return base_set(geo, stream, &first) + grown / geo->streams +
	       (stream < grown % geo->streams);
}

/**
 * wsfs_geo_set_nth() - one AG of a stream's set
 * @geo: the geometry
 * @stream: the stream
 * @n: which of them, in ascending order; taken modulo the size of the set, so
 *	a counter that only goes up makes files take turns
 *
 * Return: the AG, %WSFS_GEO_NONE for a stream that does not exist.
 */
u32 wsfs_geo_set_nth(const struct wsfs_geo *geo, u32 stream, u32 n)
{
	u32 base, first;

	if (!has_set(geo, stream))
		return WSFS_GEO_NONE;

	n %= wsfs_geo_set_size(geo, stream);
	base = base_set(geo, stream, &first);
	if (n < base)
		return first + n;
	return geo->base_agcount + (n - base) * geo->streams + stream;
}

/**
 * wsfs_geo_set_contains() - is an AG one of a stream's set
 * @geo: the geometry
 * @stream: the stream
 * @agno: the AG
 *
 * Return: true if it is; false for AGs and streams that do not exist.
 */
bool wsfs_geo_set_contains(const struct wsfs_geo *geo, u32 stream, u32 agno)
{
	u32 base, first;

	if (!has_set(geo, stream) || agno >= geo->agcount)
		return false;
	if (agno >= geo->base_agcount)
		return (agno - geo->base_agcount) % geo->streams == stream;
	base = base_set(geo, stream, &first);
	return agno >= first && agno - first < base;
}

/**
 * wsfs_geo_owner() - the stream that owns an AG
 * @geo: the geometry
 * @agno: the AG
 *
 * Return: the stream; the lowest of them where several share the AG, which is
 * so only in a base with more streams than AGs. %WSFS_GEO_NONE without streams
 * and for an AG that does not exist.
 */
u32 wsfs_geo_owner(const struct wsfs_geo *geo, u32 agno)
{
	u32 each;

	if (!geo->streams || agno >= geo->agcount)
		return WSFS_GEO_NONE;
	if (agno >= geo->base_agcount)
		return (agno - geo->base_agcount) % geo->streams;
	each = geo->base_agcount / geo->streams;
	return each ? min(agno / each, geo->streams - 1) : agno;
}

/*
 * The run of consecutive AGs that starts with the n-th one of a set. Returns
 * the n after it, 0 at the end of the set.
 */
static u32 set_run(const struct wsfs_geo *geo, u32 stream, u32 n, u32 *first,
		   u32 *last)
{
	u32 size = wsfs_geo_set_size(geo, stream);
	u32 base;

	if (n >= size)
		return 0;

	base = base_set(geo, stream, first);
	*last = *first + base - 1;
	if (n == 0) {
		n = base;
	} else {
		*first = wsfs_geo_set_nth(geo, stream, n++);
		*last = *first;
	}
	while (n < size && wsfs_geo_set_nth(geo, stream, n) == *last + 1) {
		++*last;
		n++;
	}
	return n;
}

/**
 * wsfs_geo_print_set() - print a stream's set as a list of ranges
 * @geo: the geometry
 * @stream: the stream
 * @buf: where to print, "8-11" or "8-11,32,40"; no newline
 * @size: bytes at @buf, not 0
 *
 * A list that does not fit ends with ",..." instead of half a number.
 *
 * Return: characters printed, without the NUL.
 */
size_t wsfs_geo_print_set(const struct wsfs_geo *geo, u32 stream, char *buf,
			  size_t size)
{
	static const char more[] = ",...";
	size_t at = 0;
	u32 first, last, n = 0;

	buf[0] = '\0';
	while ((n = set_run(geo, stream, n, &first, &last))) {
		char run[sizeof(",4294967295-4294967295")];
		int len;

		len = scnprintf(run, sizeof(run), "%s%u", at ? "," : "", first);
		if (last != first)
			len += scnprintf(run + len, sizeof(run) - len, "-%u",
					 last);
		if (at + len + sizeof(more) > size)
			return at + scnprintf(buf + at, size - at, "%s", more);
		memcpy(buf + at, run, len + 1);
		at += len;
	}
	return at;
}

/**
 * wsfs_geo_show_set() - print a stream's set as a list of ranges
 * @m: where to print, as wsfs_geo_print_set() does
 * @geo: the geometry
 * @stream: the stream
 */
void wsfs_geo_show_set(struct seq_file *m, const struct wsfs_geo *geo,
		       u32 stream)
{
	u32 first, last, n = 0;
	const char *comma = "";

	while ((n = set_run(geo, stream, n, &first, &last))) {
		seq_printf(m, "%s%u", comma, first);
		if (last != first)
			seq_printf(m, "-%u", last);
		comma = ",";
	}
}
