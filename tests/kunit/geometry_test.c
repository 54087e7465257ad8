// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of geometry.c: superblocks good and bad, inode and block
 * numbers, AG sets.
 *
 * Offsets and limits are written out here once more, not taken from the code
 * under test.
 */
#include <kunit/test.h>
#include <linux/crc32c.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "geometry.h"
#include "tests.h"

/*
 * The beginning of what mkfs.xfs 6.1 wrote; zeros follow up to byte 512.
 *	mkfs.xfs -d agcount=16 -m uuid=01234567-89ab-cdef-0123-456789abcdef
 * on 4 GiB.
 */
static const u8 mkfs_sector[] = {
	0x58, 0x46, 0x53, 0x42, 0x00, 0x00, 0x10, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00, 0x06,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x81,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x40, 0x00, 0xb4, 0xa5, 0x02, 0x00,
	0x02, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x0c, 0x09, 0x09, 0x03, 0x10, 0x00, 0x00, 0x19,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3d,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x0f, 0xbf, 0x98,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x01, 0x8a, 0x00, 0x00, 0x01, 0x8a,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
	0x00, 0x00, 0x00, 0x0b, 0x00, 0x00, 0x00, 0x00,
	0x8c, 0x5f, 0x07, 0x30, 0x00, 0x00, 0x00, 0x04,
};

#define MKFS_BYTES	(4ULL << 30)
#define MKFS_SECTSIZE	512

#define OFF_RO_COMPAT	212
#define OFF_INCOMPAT	216
#define OFF_CRC		224

static u8 *sector_alloc(struct kunit *test)
{
	u8 *sb = kunit_kzalloc(test, WSFS_GEO_SECTOR_MAX, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sb);
	memcpy(sb, mkfs_sector, sizeof(mkfs_sector));
	return sb;
}

static void put(u8 *sb, u32 offset, u32 width, u64 value)
{
	while (width) {
		sb[offset + --width] = value;
		value >>= 8;
	}
}

static u64 get(const u8 *sb, u32 offset, u32 width)
{
	u64 value = 0;

	while (width--)
		value = value << 8 | sb[offset++];
	return value;
}

static void sector_sign(u8 *sb, u32 sectsize)
{
	memset(sb + OFF_CRC, 0, 4);
	put_unaligned_le32(~crc32c(~0U, sb, sectsize), sb + OFF_CRC);
}

/* What a sector has to say about sizes, so that all of it is consistent. */
struct shape {
	u32 blocklog;
	u32 sectlog;
	u32 inodelog;
	u32 agblocks;
	u64 dblocks;
};

static void sector_shape(u8 *sb, const struct shape *s)
{
	u32 agblklog = 0;

	while (1ULL << agblklog < s->agblocks)
		agblklog++;

	put(sb, 4, 4, 1ULL << s->blocklog);
	put(sb, 8, 8, s->dblocks);
	put(sb, 84, 4, s->agblocks);
	put(sb, 88, 4, div_u64(s->dblocks + s->agblocks - 1, s->agblocks));
	put(sb, 102, 2, 1 << s->sectlog);
	put(sb, 104, 2, 1 << s->inodelog);
	put(sb, 106, 2, 1U << s->blocklog >> s->inodelog);
	put(sb, 120, 1, s->blocklog);
	put(sb, 121, 1, s->sectlog);
	put(sb, 122, 1, s->inodelog);
	put(sb, 123, 1, s->blocklog - s->inodelog);
	put(sb, 124, 1, agblklog);
	sector_sign(sb, 1 << s->sectlog);
}

/* Parsing ---------------------------------------------------------------- */

static void parse_reads_a_superblock_of_mkfs(struct kunit *test)
{
	static const u8 uuid[16] = {
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	};
	u8 *sb = sector_alloc(test);
	struct wsfs_geo geo;

	memset(&geo, 0xff, sizeof(geo));
	KUNIT_ASSERT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), 0);
	KUNIT_EXPECT_EQ(test, geo.dblocks, 1048576);
	KUNIT_EXPECT_EQ(test, geo.blocksize, 4096);
	KUNIT_EXPECT_EQ(test, geo.sectsize, 512);
	KUNIT_EXPECT_EQ(test, geo.agblocks, 65536);
	KUNIT_EXPECT_EQ(test, geo.agcount, 16);
	KUNIT_EXPECT_EQ(test, geo.base_agcount, 16);
	KUNIT_EXPECT_EQ(test, geo.streams, 0);
	KUNIT_EXPECT_EQ(test, geo.logblocks, 16384);
	KUNIT_EXPECT_EQ(test, geo.blocklog, 12);
	KUNIT_EXPECT_EQ(test, geo.agblklog, 16);
	KUNIT_EXPECT_EQ(test, geo.inodelog, 9);
	KUNIT_EXPECT_EQ(test, geo.inopblog, 3);
	KUNIT_EXPECT_MEMEQ(test, geo.uuid, uuid, sizeof(uuid));
	KUNIT_EXPECT_FALSE(test, geo.realtime);
	KUNIT_EXPECT_FALSE(test, geo.rtgroups);
	KUNIT_EXPECT_TRUE(test, geo.reflink);
	KUNIT_EXPECT_FALSE(test, geo.rmapbt);
}

static void parse_reads_every_valid_shape(struct kunit *test)
{
	static const struct shape shapes[] = {
		/* the smallest and the largest of everything */
		{ 10, 9, 8, 16384, 16384 },
		{ 10, 9, 9, 16384, 5 * 16384 + 64 },
		{ 10, 10, 9, 1U << 30, 1ULL << 30 },
		{ 12, 9, 9, 4096, 1000 * 4096 },
		{ 12, 12, 8, 4097, 2 * 4097 },
		{ 12, 12, 11, 1U << 28, (1ULL << 28) * 3 + 64 },
		{ 12, 9, 9, (1U << 28) - 1, (1ULL << 30) + 60 },
		{ 14, 12, 9, 1024, 16 * 1024 },
		{ 16, 15, 11, 256, 256 * 64 },
		{ 16, 12, 8, 257, 257 },
	};
	u8 *sb = sector_alloc(test);
	struct wsfs_geo geo;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct shape *s = &shapes[i];
		u64 bytes = s->dblocks << s->blocklog;

		sector_shape(sb, s);
		put(sb, 96, 4, 0);
		sector_sign(sb, 1 << s->sectlog);

		KUNIT_ASSERT_EQ_MSG(test, wsfs_geo_parse(&geo, sb,
							 1 << s->sectlog,
							 bytes), 0,
				    "shape %u", i);
		KUNIT_EXPECT_EQ(test, geo.dblocks, s->dblocks);
		KUNIT_EXPECT_EQ(test, geo.agblocks, s->agblocks);
		KUNIT_EXPECT_EQ(test, geo.agcount, get(sb, 88, 4));
		KUNIT_EXPECT_EQ(test, geo.blocksize, 1U << s->blocklog);
		KUNIT_EXPECT_EQ(test, geo.sectsize, 1U << s->sectlog);
		KUNIT_EXPECT_EQ(test, geo.inopblog, s->blocklog - s->inodelog);
		KUNIT_EXPECT_EQ(test, geo.agblklog, sb[124]);

		/* a buffer larger than the sector is fine, too */
		KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb,
						     WSFS_GEO_SECTOR_MAX,
						     bytes), 0);
		/* one byte of the last block missing is not */
		KUNIT_EXPECT_EQ_MSG(test, wsfs_geo_parse(&geo, sb,
							 1 << s->sectlog,
							 bytes - 1), -EUCLEAN,
				    "shape %u", i);
	}
}

static void parse_reads_features_and_log(struct kunit *test)
{
	u8 *sb = sector_alloc(test);
	struct wsfs_geo geo;

	put(sb, OFF_RO_COMPAT, 4, 1 << 1);
	sector_sign(sb, MKFS_SECTSIZE);
	KUNIT_ASSERT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), 0);
	KUNIT_EXPECT_TRUE(test, geo.rmapbt);
	KUNIT_EXPECT_FALSE(test, geo.reflink);

	/* metadir means groups where there is a realtime volume */
	put(sb, OFF_INCOMPAT, 4, 1 << 8);
	sector_sign(sb, MKFS_SECTSIZE);
	KUNIT_ASSERT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), 0);
	KUNIT_EXPECT_FALSE(test, geo.realtime);
	KUNIT_EXPECT_FALSE(test, geo.rtgroups);

	put(sb, 16, 8, 1ULL << 32);
	sector_sign(sb, MKFS_SECTSIZE);
	KUNIT_ASSERT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), 0);
	KUNIT_EXPECT_TRUE(test, geo.realtime);
	KUNIT_EXPECT_TRUE(test, geo.rtgroups);

	/* an external log takes nothing from the data device */
	put(sb, 48, 8, 0);
	sector_sign(sb, MKFS_SECTSIZE);
	KUNIT_ASSERT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), 0);
	KUNIT_EXPECT_EQ(test, geo.logblocks, 0);

	/* what a later kernel may add is no obstacle */
	put(sb, OFF_INCOMPAT, 4, 1U << 31);
	sector_sign(sb, MKFS_SECTSIZE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), 0);
}

static void parse_tells_other_filesystems_from_damaged_ones(struct kunit *test)
{
	u8 *sb = sector_alloc(test);
	struct wsfs_geo geo;
	u32 version;

	put(sb, 0, 4, 0x42534658);
	sector_sign(sb, MKFS_SECTSIZE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), -EINVAL);
	memset(sb, 0, MKFS_SECTSIZE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), -EINVAL);
	memset(sb, 0xff, MKFS_SECTSIZE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), -EINVAL);

	memset(sb, 0, MKFS_SECTSIZE);
	memcpy(sb, mkfs_sector, sizeof(mkfs_sector));
	for (version = 0; version < 16; version++) {
		put(sb, 100, 2, 0xb4a0 | version);
		sector_sign(sb, MKFS_SECTSIZE);
		KUNIT_EXPECT_EQ_MSG(test,
				    wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
						   MKFS_BYTES),
				    version == 5 ? 0 : -EOPNOTSUPP,
				    "version %u", version);
	}
}

static void parse_refuses_every_truncated_sector(struct kunit *test)
{
	static const struct shape large = { 12, 12, 9, 65536, 1048576 };
	u8 *sb = sector_alloc(test), *copy;
	struct wsfs_geo geo;
	u32 len;

	for (len = 0; len < MKFS_SECTSIZE; len++) {
		/* of its own size, so that KASAN sees a read past the end */
		copy = kunit_kmalloc(test, len, GFP_KERNEL);
		memcpy(copy, sb, len);
		KUNIT_EXPECT_EQ_MSG(test, wsfs_geo_parse(&geo, copy, len,
							 MKFS_BYTES),
				    len < 4 ? -EINVAL : -EUCLEAN, "%u bytes",
				    len);
		kunit_kfree(test, copy);
	}

	sector_shape(sb, &large);
	for (len = 0; len <= 4096; len++) {
		copy = kunit_kmalloc(test, len, GFP_KERNEL);
		memcpy(copy, sb, len);
		KUNIT_EXPECT_EQ_MSG(test, wsfs_geo_parse(&geo, copy, len,
							 MKFS_BYTES),
				    len < 4 ? -EINVAL :
				    len < 4096 ? -EUCLEAN : 0, "%u bytes", len);
		kunit_kfree(test, copy);
	}
}

static void parse_refuses_every_flipped_bit(struct kunit *test)
{
	u8 *sb = sector_alloc(test);
	struct wsfs_geo geo, before;
	u32 bit;
	int err;

	memset(&geo, 0xa5, sizeof(geo));
	before = geo;
	for (bit = 0; bit < MKFS_SECTSIZE * 8; bit++) {
		sb[bit / 8] ^= 1 << bit % 8;
		err = wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE, MKFS_BYTES);
		sb[bit / 8] ^= 1 << bit % 8;

		if (bit / 8 < 4)
			KUNIT_EXPECT_EQ_MSG(test, err, -EINVAL, "bit %u", bit);
		else if (bit / 8 == 101 && bit % 8 < 4)
			KUNIT_EXPECT_EQ_MSG(test, err, -EOPNOTSUPP, "bit %u",
					    bit);
		else
			KUNIT_EXPECT_EQ_MSG(test, err, -EUCLEAN, "bit %u", bit);
	}
	KUNIT_EXPECT_MEMEQ(test, &geo, &before, sizeof(geo));
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES), 0);
}

static void parse_refuses_impossible_values_with_a_good_crc(struct kunit *test)
{
	static const struct {
		const char *what;
		u32 offset;
		u32 width;
		u64 value;
	} bad[] = {
		{ "blocksize 0", 4, 4, 0 },
		{ "blocksize not a power of two", 4, 4, 4095 },
		{ "blocksize other than its log", 4, 4, 8192 },
		{ "no blocks", 8, 8, 0 },
		{ "more blocks than AGs", 8, 8, 1048577 },
		{ "fewer blocks than AGs", 8, 8, 15 * 65536 },
		{ "last AG too short", 8, 8, 15 * 65536 + 63 },
		{ "all blocks there can be", 8, 8, U64_MAX },
		{ "blocks that overflow as bytes", 8, 8, 1ULL << 52 },
		{ "AG of no blocks", 84, 4, 0 },
		{ "AG of one block", 84, 4, 1 },
		{ "AG below 16 MiB", 84, 4, 4095 },
		{ "AG above 1 TiB", 84, 4, (1U << 28) + 1 },
		{ "AG of all blocks there can be", 84, 4, U32_MAX },
		{ "no AGs", 88, 4, 0 },
		{ "one AG too few", 88, 4, 15 },
		{ "one AG too many", 88, 4, 17 },
		{ "all AGs there can be", 88, 4, U32_MAX },
		{ "log of all blocks", 96, 4, 1048576 },
		{ "sector size 0", 102, 2, 0 },
		{ "sector size not a power of two", 102, 2, 513 },
		{ "sector size other than its log", 102, 2, 1024 },
		{ "inode size 0", 104, 2, 0 },
		{ "inode size other than its log", 104, 2, 1024 },
		{ "inodes in a block 0", 106, 2, 0 },
		{ "inodes in a block", 106, 2, 16 },
		{ "blocklog 0", 120, 1, 0 },
		{ "blocklog 13", 120, 1, 13 },
		{ "blocklog 255", 120, 1, 255 },
		{ "sectlog 0", 121, 1, 0 },
		{ "sectlog 255", 121, 1, 255 },
		{ "inodelog 0", 122, 1, 0 },
		{ "inodelog 255", 122, 1, 255 },
		{ "inopblog 0", 123, 1, 0 },
		{ "inopblog 4", 123, 1, 4 },
		{ "inopblog 255", 123, 1, 255 },
		{ "agblklog 0", 124, 1, 0 },
		{ "agblklog 15", 124, 1, 15 },
		{ "agblklog 17", 124, 1, 17 },
		{ "agblklog 255", 124, 1, 255 },
		{ "mkfs in progress", 126, 1, 1 },
	};
	u8 *sb = sector_alloc(test);
	struct wsfs_geo geo;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		u64 good = get(sb, bad[i].offset, bad[i].width);

		put(sb, bad[i].offset, bad[i].width, bad[i].value);
		sector_sign(sb, MKFS_SECTSIZE);
		KUNIT_EXPECT_EQ_MSG(test, wsfs_geo_parse(&geo, sb,
							 WSFS_GEO_SECTOR_MAX,
							 U64_MAX), -EUCLEAN,
				    "%s", bad[i].what);
		put(sb, bad[i].offset, bad[i].width, good);
	}

	sector_sign(sb, MKFS_SECTSIZE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, WSFS_GEO_SECTOR_MAX,
					     U64_MAX), 0);
	/* larger than the device it is on */
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE,
					     MKFS_BYTES - 1), -EUCLEAN);
	KUNIT_EXPECT_EQ(test, wsfs_geo_parse(&geo, sb, MKFS_SECTSIZE, 0),
			-EUCLEAN);
}

static void parse_refuses_consistent_shapes_out_of_range(struct kunit *test)
{
	static const struct shape shapes[] = {
		{ 9, 9, 8, 32768, 1 << 20 },		/* block of 512 */
		{ 12, 8, 9, 65536, 1 << 20 },		/* sector of 256 */
		{ 12, 9, 7, 65536, 1 << 20 },		/* inode of 128 */
		{ 12, 9, 12, 65536, 1 << 20 },		/* inode of 4096 */
		{ 10, 9, 11, 65536, 1 << 20 },		/* inode > block */
		{ 12, 9, 9, 4095, 1 << 20 },		/* AG < 16 MiB */
		{ 16, 9, 9, 1 << 25, 1 << 25 },		/* AG > 1 TiB */
		{ 12, 9, 9, 65536, 65536 + 63 },	/* last AG of 63 */
		{ 12, 9, 9, 65536, 0 },			/* nothing at all */
		{ 12, 9, 9, 1 << 28, 1ULL << 52 },	/* 2^64 bytes */
		{ 12, 9, 9, 4096, ((1ULL << 32) + 16) * 4096 },	/* 2^32 AGs */
	};
	u8 *sb = sector_alloc(test);
	struct wsfs_geo geo;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		sector_shape(sb, &shapes[i]);
		/* an external log, lest its size be the reason */
		put(sb, 48, 8, 0);
		sector_sign(sb, 1 << shapes[i].sectlog);
		KUNIT_EXPECT_EQ_MSG(test, wsfs_geo_parse(&geo, sb,
							 WSFS_GEO_SECTOR_MAX,
							 U64_MAX), -EUCLEAN,
				    "shape %u", i);
	}
}

/* Whatever was accepted has to be safe to use; UBSAN watches. */
static void exercise(struct kunit *test, struct wsfs_geo geo, u64 bytes)
{
	static const u64 numbers[] = { 0, 1, 12345, S64_MAX, U64_MAX };
	static const u32 streams[] = { 0, 1, 3, 16, 1024 };
	u32 i, j;

	KUNIT_ASSERT_TRUE(test, is_power_of_2(geo.blocksize));
	KUNIT_ASSERT_EQ(test, geo.blocksize, 1ULL << geo.blocklog);
	KUNIT_ASSERT_LE(test, geo.dblocks, bytes / geo.blocksize);
	KUNIT_ASSERT_GT(test, geo.agblocks, 1ULL << (geo.agblklog - 1));
	KUNIT_ASSERT_LE(test, geo.agblocks, 1ULL << geo.agblklog);
	KUNIT_ASSERT_LE(test, geo.dblocks, (u64)geo.agcount * geo.agblocks);
	KUNIT_ASSERT_GT(test, geo.dblocks,
			(u64)(geo.agcount - 1) * geo.agblocks);
	KUNIT_ASSERT_LE(test, geo.agblklog + geo.inopblog, 38);
	KUNIT_ASSERT_LT(test, geo.logblocks, geo.dblocks);

	for (i = 0; i < ARRAY_SIZE(streams); i++) {
		geo.streams = streams[i];
		for (j = 0; j < ARRAY_SIZE(numbers); j++) {
			u32 id = numbers[j], agno;

			wsfs_geo_ino_to_agno(&geo, numbers[j]);
			wsfs_geo_block_to_agno(&geo, numbers[j]);
			wsfs_geo_byte_to_agno(&geo, numbers[j]);
			wsfs_geo_owner(&geo, id);
			wsfs_geo_set_contains(&geo, id, id);
			agno = wsfs_geo_set_nth(&geo, id, id);
			if (id < geo.streams)
				KUNIT_ASSERT_TRUE(test,
						  wsfs_geo_set_contains(&geo,
									id,
									agno));
			else
				KUNIT_ASSERT_EQ(test, agno, WSFS_GEO_NONE);
		}
		wsfs_geo_grow(&geo, U64_MAX, i & 1);
		wsfs_geo_grow(&geo, 0, i & 1);
		KUNIT_ASSERT_GE(test, geo.agcount, geo.base_agcount);
	}
}

static void parse_accepts_only_what_is_safe(struct kunit *test)
{
	static const struct {
		u32 offset;
		u32 width;
	} fields[] = {
		{ 4, 4 }, { 8, 8 }, { 16, 8 }, { 48, 8 }, { 84, 4 }, { 88, 4 },
		{ 96, 4 }, { 100, 2 }, { 102, 2 }, { 104, 2 }, { 106, 2 },
		{ 120, 1 }, { 121, 1 }, { 122, 1 }, { 123, 1 }, { 124, 1 },
		{ 126, 1 }, { OFF_RO_COMPAT, 4 }, { OFF_INCOMPAT, 4 },
	};
	u8 *sb = sector_alloc(test);
	u8 *clean = sector_alloc(test);
	struct rnd_state rnd;
	struct wsfs_geo geo;
	u32 accepted = 0, i, n;

	/* one field: every power of two, one less, one more, negated */
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		for (n = 0; n < fields[i].width * 8 * 6; n++) {
			u64 value = (1ULL << n / 6) + n % 3 - 1;

			put(sb, fields[i].offset, fields[i].width,
			    n % 6 < 3 ? value : ~value);
			sector_sign(sb, MKFS_SECTSIZE);
			if (!wsfs_geo_parse(&geo, sb, WSFS_GEO_SECTOR_MAX,
					    MKFS_BYTES)) {
				exercise(test, geo, MKFS_BYTES);
				accepted++;
			}
			memcpy(sb, clean, MKFS_SECTSIZE);
		}
	}
	KUNIT_EXPECT_GT(test, accepted, 100);

	/* several fields at a time, signed for the sector size they name */
	prandom_seed_state(&rnd, 7);
	for (n = 0; n < 20000; n++) {
		struct shape s = {
			.blocklog = 9 + prandom_u32_state(&rnd) % 9,
			.sectlog = 9 + prandom_u32_state(&rnd) % 4,
			.inodelog = 8 + prandom_u32_state(&rnd) % 2,
			.agblocks = prandom_u32_state(&rnd) >>
				    prandom_u32_state(&rnd) % 32 | 1,
			.dblocks = prandom_u32_state(&rnd) |
				   (u64)(prandom_u32_state(&rnd) & 0xff) << 32,
		};

		sector_shape(sb, &s);
		i = prandom_u32_state(&rnd) % (2 * ARRAY_SIZE(fields));
		if (i < ARRAY_SIZE(fields))
			put(sb, fields[i].offset, fields[i].width,
			    1ULL << prandom_u32_state(&rnd) % 64);
		sector_sign(sb, 1 << s.sectlog);
		if (!wsfs_geo_parse(&geo, sb, WSFS_GEO_SECTOR_MAX, U64_MAX)) {
			exercise(test, geo, U64_MAX);
			accepted++;
		}
		memcpy(sb, clean, MKFS_SECTSIZE);
	}
	KUNIT_EXPECT_GT(test, accepted, 1000);
}

/* Numbers ---------------------------------------------------------------- */

static void inode_number_tells_the_ag(struct kunit *test)
{
	/* the root inode is in AG 0, the first of AG 5 as xfs_db convert says */
	static const struct {
		u8 agblklog;
		u8 inopblog;
		u64 ino;
		u32 agno;
	} table[] = {
		{ 16, 3, 128, 0 },
		{ 16, 3, (1 << 19) - 1, 0 },
		{ 16, 3, 1 << 19, 1 },
		{ 16, 3, 2621568, 5 },
		{ 16, 3, 7864448, 15 },
		{ 8, 5, 0x1fff, 0 },
		{ 8, 5, 0x2000, 1 },
		{ 30, 2, 0xffffffff, 0 },
		{ 30, 2, 0x100000000, 1 },
		{ 28, 3, 0x7fffffffffff, 0xffff },
		{ 16, 3, 0xfffffffeULL << 19, 0xfffffffe },
		{ 16, 3, 0xffffffffULL << 19, WSFS_GEO_NONE },
		{ 16, 3, 0x100000005ULL << 19, WSFS_GEO_NONE },
		{ 16, 3, U64_MAX, WSFS_GEO_NONE },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct wsfs_geo geo = {
			.agblocks = 1U << table[i].agblklog,
			.agblklog = table[i].agblklog,
			.inopblog = table[i].inopblog,
		};

		KUNIT_EXPECT_EQ_MSG(test,
				    wsfs_geo_ino_to_agno(&geo, table[i].ino),
				    table[i].agno, "inode %llu", table[i].ino);
	}
}

static void numbers_go_to_an_ag_and_back(struct kunit *test)
{
	u32 agblocks, agno, agblklog;

	for (agblocks = 4096; agblocks < 1 << 28; agblocks += agblocks / 3 + 1) {
		for (agblklog = 0; 1U << agblklog < agblocks; agblklog++)
			;
		for (agno = 0; agno < 100000; agno += agno / 2 + 1) {
			struct wsfs_geo geo = {
				.agblocks = agblocks,
				.agblklog = agblklog,
				.inopblog = agno % 8,
				.blocklog = 12,
			};
			u64 first = (u64)agno * agblocks;
			u64 ino = (u64)agno << agblklog << geo.inopblog;
			u64 last = (((u64)agno << agblklog) + agblocks - 1) <<
				   geo.inopblog;

			last += (1 << geo.inopblog) - 1;
			KUNIT_ASSERT_EQ(test, wsfs_geo_ino_to_agno(&geo, ino),
					agno);
			KUNIT_ASSERT_EQ(test, wsfs_geo_ino_to_agno(&geo, last),
					agno);
			KUNIT_ASSERT_EQ(test,
					wsfs_geo_block_to_agno(&geo, first),
					agno);
			first += agblocks - 1;
			KUNIT_ASSERT_EQ(test,
					wsfs_geo_block_to_agno(&geo, first),
					agno);
			first = (first << 12) + 4095;
			KUNIT_ASSERT_EQ(test,
					wsfs_geo_byte_to_agno(&geo, first),
					agno);
			KUNIT_ASSERT_EQ(test,
					wsfs_geo_byte_to_agno(&geo, first + 1),
					agno + 1);
		}
	}
}

static void numbers_past_every_ag_are_none(struct kunit *test)
{
	struct wsfs_geo geo = {
		.agblocks = 4097, .agblklog = 13, .inopblog = 3, .blocklog = 12,
	};

	KUNIT_EXPECT_EQ(test, wsfs_geo_block_to_agno(&geo, 4097ULL * U32_MAX - 1),
			U32_MAX - 1);
	KUNIT_EXPECT_EQ(test, wsfs_geo_block_to_agno(&geo, 4097ULL * U32_MAX),
			WSFS_GEO_NONE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_block_to_agno(&geo, 5000ULL * U32_MAX),
			WSFS_GEO_NONE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_block_to_agno(&geo, U64_MAX),
			WSFS_GEO_NONE);
	KUNIT_EXPECT_EQ(test, wsfs_geo_byte_to_agno(&geo, U64_MAX),
			WSFS_GEO_NONE);
}

static void without_an_xfs_there_are_no_ags(struct kunit *test)
{
	struct wsfs_geo geo = {};
	char buf[8];

	for (geo.streams = 0; geo.streams < 2; geo.streams++) {
		KUNIT_EXPECT_EQ(test, wsfs_geo_ino_to_agno(&geo, 128),
				WSFS_GEO_NONE);
		KUNIT_EXPECT_EQ(test, wsfs_geo_block_to_agno(&geo, 0),
				WSFS_GEO_NONE);
		KUNIT_EXPECT_EQ(test, wsfs_geo_byte_to_agno(&geo, 0),
				WSFS_GEO_NONE);
		KUNIT_EXPECT_EQ(test, wsfs_geo_set_size(&geo, 0), 0);
		KUNIT_EXPECT_EQ(test, wsfs_geo_set_nth(&geo, 0, 0),
				WSFS_GEO_NONE);
		KUNIT_EXPECT_FALSE(test, wsfs_geo_set_contains(&geo, 0, 0));
		KUNIT_EXPECT_EQ(test, wsfs_geo_owner(&geo, 0), WSFS_GEO_NONE);
		KUNIT_EXPECT_EQ(test, wsfs_geo_print_set(&geo, 0, buf,
							 sizeof(buf)), 0);
		KUNIT_EXPECT_STREQ(test, buf, "");
		KUNIT_EXPECT_FALSE(test, wsfs_geo_grow(&geo, 1 << 20, true));
	}
}

static void default_number_of_streams(struct kunit *test)
{
	static const u32 table[][2] = {
		{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 4, 4 }, { 7, 7 }, { 8, 4 },
		{ 9, 4 }, { 16, 8 }, { 31, 15 }, { 32, 8 }, { 33, 8 },
		{ 60, 15 }, { 64, 16 }, { 68, 16 }, { 1000, 16 },
		{ U32_MAX, 16 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		KUNIT_EXPECT_EQ_MSG(test, wsfs_geo_default_streams(table[i][0]),
				    table[i][1], "%u AGs", table[i][0]);
}

/* AG sets ---------------------------------------------------------------- */

#define MAX_AGS		1000
#define MAX_STREAMS	64

static struct wsfs_geo ags(u32 agcount, u32 streams)
{
	return (struct wsfs_geo) {
		.dblocks = (u64)agcount * 4096,
		.blocksize = 4096,
		.blocklog = 12,
		.agblocks = 4096,
		.agblklog = 12,
		.agcount = agcount,
		.base_agcount = agcount,
		.streams = streams,
	};
}

/* The rule of docs/interface.md, in the plainest words. */
static bool rule_says(u32 agcount, u32 streams, u32 stream, u32 agno)
{
	u32 each = agcount / streams;

	if (streams > agcount)
		return stream % agcount == agno;
	if (stream == streams - 1)
		return agno >= stream * each;
	return agno >= stream * each && agno < (stream + 1) * each;
}

static void every_ag_has_one_owner_when_streams_do_not_exceed_ags(struct kunit *test)
{
	u16 *owners = kunit_kmalloc_array(test, MAX_AGS, sizeof(*owners),
					  GFP_KERNEL);
	u32 a, s, i, n;

	KUNIT_ASSERT_NOT_NULL(test, owners);
	for (a = 1; a <= MAX_AGS; a++) {
		for (s = 1; s <= min(a, MAX_STREAMS); s++) {
			struct wsfs_geo geo = ags(a, s);
			u32 total = 0;

			memset(owners, 0xff, a * sizeof(*owners));
			for (i = 0; i < s; i++) {
				u32 size = wsfs_geo_set_size(&geo, i);

				total += size;
				for (n = 0; n < size; n++) {
					u32 ag = wsfs_geo_set_nth(&geo, i, n);

					KUNIT_ASSERT_LT(test, ag, a);
					KUNIT_ASSERT_EQ(test, owners[ag],
							0xffff);
					owners[ag] = i;
				}
			}
			KUNIT_ASSERT_EQ(test, total, a);
			/* a AGs, none twice: so none was left out */
			for (n = 0; n < a; n++) {
				if (wsfs_geo_owner(&geo, n) == owners[n] &&
				    rule_says(a, s, owners[n], n))
					continue;
				KUNIT_FAIL(test, "AG %u of %u, %u streams", n,
					   a, s);
				return;
			}
			KUNIT_ASSERT_EQ(test, wsfs_geo_owner(&geo, a),
					WSFS_GEO_NONE);
		}
	}
}

static void contains_agrees_with_owner_for_every_stream_and_ag(struct kunit *test)
{
	u32 a, s, i, n;

	/* all up to 128 AGs, a few beyond */
	for (a = 1; a <= MAX_AGS; a = a < 128 ? a + 1 : a + 109) {
		for (s = 1; s <= MAX_STREAMS; s++) {
			struct wsfs_geo geo = ags(a, s);

			for (n = 0; n < a; n++) {
				for (i = 0; i < s; i++) {
					bool in = rule_says(a, s, i, n);

					if (wsfs_geo_set_contains(&geo, i, n) ==
					    in)
						continue;
					KUNIT_FAIL(test,
						   "AG %u of %u, stream %u of %u",
						   n, a, i, s);
					return;
				}
				if (s <= a)
					continue;
				/* shared: the lowest one stands for all */
				KUNIT_ASSERT_EQ(test, wsfs_geo_owner(&geo, n),
						n);
			}
			KUNIT_ASSERT_FALSE(test,
					   wsfs_geo_set_contains(&geo, 0, a));
			KUNIT_ASSERT_FALSE(test,
					   wsfs_geo_set_contains(&geo, s, 0));
			KUNIT_ASSERT_FALSE(test,
					   wsfs_geo_set_contains(&geo, 0,
								 WSFS_GEO_NONE));
			KUNIT_ASSERT_EQ(test, wsfs_geo_set_size(&geo, s), 0);
			KUNIT_ASSERT_EQ(test, wsfs_geo_set_nth(&geo, s, 0),
					WSFS_GEO_NONE);
		}
	}
}

static void more_streams_than_ags_share_them_in_turn(struct kunit *test)
{
	u32 a, s, i;

	for (a = 1; a < MAX_STREAMS; a++) {
		for (s = a + 1; s <= MAX_STREAMS; s++) {
			struct wsfs_geo geo = ags(a, s);

			for (i = 0; i < s; i++) {
				KUNIT_ASSERT_EQ(test,
						wsfs_geo_set_size(&geo, i), 1);
				KUNIT_ASSERT_EQ(test,
						wsfs_geo_set_nth(&geo, i, 7),
						i % a);
			}
		}
	}
}

static void files_of_a_stream_take_turns(struct kunit *test)
{
	struct wsfs_geo geo = ags(19, 4);
	u32 stream, n;

	wsfs_geo_grow(&geo, 25ULL * 4096, false);
	for (stream = 0; stream < 4; stream++) {
		u32 size = wsfs_geo_set_size(&geo, stream);
		u32 prev = 0;

		for (n = 0; n < size; n++) {
			u32 ag = wsfs_geo_set_nth(&geo, stream, n);

			KUNIT_EXPECT_TRUE(test, n == 0 || ag > prev);
			prev = ag;
			KUNIT_EXPECT_EQ(test, ag,
					wsfs_geo_set_nth(&geo, stream,
							 n + 5 * size));
		}
	}
	/* the counter may wrap */
	KUNIT_EXPECT_TRUE(test, wsfs_geo_set_contains(&geo, 1,
						      wsfs_geo_set_nth(&geo, 1,
								       U32_MAX)));
}

/* The one stream whose set contains an AG, by asking all of them. */
static u32 only_holder(const struct wsfs_geo *geo, u32 agno)
{
	u32 holder = WSFS_GEO_NONE, i;

	for (i = 0; i < geo->streams; i++) {
		if (!wsfs_geo_set_contains(geo, i, agno))
			continue;
		if (holder != WSFS_GEO_NONE)
			return WSFS_GEO_NONE - 1;
		holder = i;
	}
	return holder;
}

static void growth_with_streams_reserved_moves_no_ag(struct kunit *test)
{
	u32 *owners = kunit_kmalloc_array(test, 4 * MAX_AGS, sizeof(*owners),
					  GFP_KERNEL);
	struct rnd_state rnd;
	u32 a, s, i, n, grown;

	KUNIT_ASSERT_NOT_NULL(test, owners);
	prandom_seed_state(&rnd, 1);
	for (a = 1; a <= 40; a++) {
		for (s = 1; s <= MAX_STREAMS; s += 3) {
			struct wsfs_geo geo = ags(a, s);
			u32 before = a, now = a;

			for (n = 0; n < a; n++)
				owners[n] = wsfs_geo_owner(&geo, n);

			/* again and again, by one AG and by many */
			for (grown = 0; grown < 6; grown++) {
				now += grown % 2 ?
				       prandom_u32_state(&rnd) % 100 + 1 : 1;
				KUNIT_ASSERT_TRUE(test,
						  wsfs_geo_grow(&geo, now * 4096ULL,
								false));
				KUNIT_ASSERT_EQ(test, geo.agcount, now);
				for (n = 0; n < before; n++)
					KUNIT_ASSERT_EQ(test, owners[n],
							wsfs_geo_owner(&geo, n));
				for (n = before; n < now; n++) {
					owners[n] = wsfs_geo_owner(&geo, n);
					KUNIT_ASSERT_EQ(test,
							only_holder(&geo, n),
							owners[n]);
				}
				before = now;
			}

			/* sets as lists hold what contains() says */
			for (i = 0; i < s; i++) {
				u32 size = 0, ag;

				for (n = 0; n < now; n++) {
					if (!wsfs_geo_set_contains(&geo, i, n))
						continue;
					ag = wsfs_geo_set_nth(&geo, i, size++);
					KUNIT_ASSERT_EQ(test, ag, n);
				}
				KUNIT_ASSERT_EQ(test, size,
						wsfs_geo_set_size(&geo, i));
			}

			/* idle: laid out anew, without further growth */
			KUNIT_ASSERT_TRUE(test, wsfs_geo_grow(&geo, now * 4096ULL,
							      true));
			KUNIT_ASSERT_FALSE(test, wsfs_geo_grow(&geo, now * 4096ULL,
							       true));
			for (n = 0; n < now; n++)
				KUNIT_ASSERT_TRUE(test,
						  rule_says(now, s,
							    wsfs_geo_owner(&geo, n),
							    n));
		}
	}
}

static void growth_counts_the_last_short_ag(struct kunit *test)
{
	struct wsfs_geo geo = ags(16, 4);

	KUNIT_EXPECT_TRUE(test, wsfs_geo_grow(&geo, 16 * 4096 + 64, false));
	KUNIT_EXPECT_EQ(test, geo.agcount, 17);
	KUNIT_EXPECT_EQ(test, geo.base_agcount, 16);
	/* within the last AG the size changes, the sets do not */
	KUNIT_EXPECT_FALSE(test, wsfs_geo_grow(&geo, 16 * 4096 + 128, false));
	KUNIT_EXPECT_EQ(test, geo.dblocks, 16 * 4096 + 128);
}

static void growth_ignores_nonsense(struct kunit *test)
{
	struct wsfs_geo geo = ags(16, 4), before = geo;

	KUNIT_EXPECT_FALSE(test, wsfs_geo_grow(&geo, 0, true));
	KUNIT_EXPECT_FALSE(test, wsfs_geo_grow(&geo, 8 * 4096, true));
	KUNIT_EXPECT_FALSE(test, wsfs_geo_grow(&geo, 1ULL << 45, true));
	KUNIT_EXPECT_FALSE(test, wsfs_geo_grow(&geo, U64_MAX, true));
	KUNIT_EXPECT_MEMEQ(test, &geo, &before, sizeof(geo));
}

static void sets_print_as_ranges(struct kunit *test)
{
	static const struct {
		u32 base;
		u32 agcount;
		u32 streams;
		u32 stream;
		const char *text;
	} table[] = {
		{ 16, 16, 4, 2, "8-11" },
		{ 16, 16, 16, 15, "15" },
		{ 19, 19, 4, 3, "12-18" },
		{ 4, 4, 8, 5, "1" },
		{ 16, 16, 4, 4, "" },
		{ 16, 17, 4, 0, "0-3,16" },
		{ 16, 17, 4, 1, "4-7" },
		{ 16, 26, 4, 1, "4-7,17,21,25" },
		{ 16, 26, 1, 0, "0-25" },
		{ 1, 3, 2, 0, "0-1" },
		{ 1, 3, 2, 1, "0,2" },
	};
	struct seq_file m = { .size = 64 };
	char buf[64], text[64];
	u32 i, size;

	m.buf = buf;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct wsfs_geo geo = ags(table[i].base, table[i].streams);

		geo.agcount = table[i].agcount;
		KUNIT_EXPECT_EQ(test, wsfs_geo_print_set(&geo, table[i].stream,
							 text, sizeof(text)),
				strlen(table[i].text));
		KUNIT_EXPECT_STREQ(test, text, table[i].text);

		m.count = 0;
		wsfs_geo_show_set(&m, &geo, table[i].stream);
		buf[m.count] = '\0';
		KUNIT_EXPECT_STREQ(test, buf, table[i].text);
	}

	/* too little room: whole numbers, and a mark; never past the end */
	for (size = 1; size < sizeof(text); size++) {
		struct wsfs_geo geo = ags(16, 4);
		size_t len;

		geo.agcount = 26;
		memset(text, '#', sizeof(text));
		len = wsfs_geo_print_set(&geo, 1, text, size);
		KUNIT_ASSERT_LT(test, len, size);
		KUNIT_ASSERT_EQ(test, strlen(text), len);
		KUNIT_ASSERT_EQ(test, text[size], '#');
		if (size == sizeof("4-7,17,..."))
			KUNIT_EXPECT_STREQ(test, text, "4-7,17,...");
		if (size >= sizeof("4-7,17,21,25") + 4)
			KUNIT_EXPECT_STREQ(test, text, "4-7,17,21,25");
	}
}

static struct kunit_case wsfs_geometry_cases[] = {
	KUNIT_CASE(parse_reads_a_superblock_of_mkfs),
	KUNIT_CASE(parse_reads_every_valid_shape),
	KUNIT_CASE(parse_reads_features_and_log),
	KUNIT_CASE(parse_tells_other_filesystems_from_damaged_ones),
	KUNIT_CASE(parse_refuses_every_truncated_sector),
	KUNIT_CASE(parse_refuses_every_flipped_bit),
	KUNIT_CASE(parse_refuses_impossible_values_with_a_good_crc),
	KUNIT_CASE(parse_refuses_consistent_shapes_out_of_range),
	KUNIT_CASE_SLOW(parse_accepts_only_what_is_safe),
	KUNIT_CASE(inode_number_tells_the_ag),
	KUNIT_CASE(numbers_go_to_an_ag_and_back),
	KUNIT_CASE(numbers_past_every_ag_are_none),
	KUNIT_CASE(without_an_xfs_there_are_no_ags),
	KUNIT_CASE(default_number_of_streams),
	KUNIT_CASE_SLOW(every_ag_has_one_owner_when_streams_do_not_exceed_ags),
	KUNIT_CASE_SLOW(contains_agrees_with_owner_for_every_stream_and_ag),
	KUNIT_CASE(more_streams_than_ags_share_them_in_turn),
	KUNIT_CASE(files_of_a_stream_take_turns),
	KUNIT_CASE(growth_with_streams_reserved_moves_no_ag),
	KUNIT_CASE(growth_counts_the_last_short_ag),
	KUNIT_CASE(growth_ignores_nonsense),
	KUNIT_CASE(sets_print_as_ranges),
	{}
};

struct kunit_suite wsfs_geometry_suite = {
	.name = "wsfs_geometry",
	.test_cases = wsfs_geometry_cases,
};
