// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: the AGs that a file may go to, in the order to be tried.
 *
 * Within its set the files of a stream take turns, and so do files without a
 * stream that are spread. A stream whose set has no room left goes on
 * elsewhere: first in the AGs that belong to no reserved stream, then in those
 * of the reserved ones, of those first that have been written to the most under
 * their reservation. So the stream that is used least keeps its AGs for itself
 * the longest.
 */

#include <linux/percpu_counter.h>
#include <linux/sysfs.h>
#include "wsfs.h"

/* AGs outside its set that one file tries */
#define WSFS_OVERFLOW_MAX	16

/* Does the AG belong to no stream that somebody holds? */
static bool wsfs_ag_is_free(const struct wsfs_turn *turn, u32 agno)
{
	u32 id = wsfs_geo_owner(&turn->geo, agno);

	/* With more streams than AGs each AG has several owners. */
	for (; id < turn->geo.streams; id += turn->geo.base_agcount)
		if (wsfs_geo_set_contains(&turn->geo, id, agno) &&
		    ws_stream_is_reserved(turn->wsb->pool, id))
			return false;
	return true;
}

/* The @n-th free AG, %WSFS_GEO_NONE where there are not so many */
static u32 wsfs_free_ag(const struct wsfs_turn *turn, u32 n)
{
	u32 agno;

	for (agno = 0; agno < turn->geo.agcount; agno++)
		if (wsfs_ag_is_free(turn, agno) && !n--)
			return agno;
	return WSFS_GEO_NONE;
}

static u32 wsfs_count_free_ags(const struct wsfs_turn *turn)
{
	u32 agno, nr = 0;

	for (agno = 0; agno < turn->geo.agcount; agno++)
		nr += wsfs_ag_is_free(turn, agno);
	return nr;
}

static struct wsfs_use wsfs_stream_use(struct wsfs_sb *wsb, u32 id)
{
	struct wsfs_use use = {
		.id = id,
		.reserved = ws_stream_is_reserved(wsb->pool, id),
	};

	if (use.reserved)
		use.bytes = percpu_counter_sum_positive(&wsb->streams[id].bytes);
	return use;
}

static bool wsfs_use_before(const struct wsfs_use *a, const struct wsfs_use *b)
{
	if (a->reserved != b->reserved)
		return b->reserved;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes;
	return a->id < b->id;
}

/*
 * The stream in whose AGs @id goes on after those of @last, whose id is NONE at
 * first. Looks at every stream; nobody asks before a set is full. What is
 * written meanwhile may name a stream twice or not at all.
 */
static struct wsfs_use wsfs_next_use(struct wsfs_sb *wsb, u32 id,
				     const struct wsfs_use *last)
{
	struct wsfs_use best = { .id = WSFS_GEO_NONE };
	u32 other;

	for (other = 0; other < ws_pool_nr(wsb->pool); other++) {
		struct wsfs_use use = wsfs_stream_use(wsb, other);

		if (other == id || (last->id != WSFS_GEO_NONE &&
				    !wsfs_use_before(last, &use)))
			continue;
		if (best.id == WSFS_GEO_NONE || wsfs_use_before(&use, &best))
			best = use;
	}
	return best;
}

static u32 wsfs_turn_overflow(struct wsfs_turn *turn)
{
	struct wsfs_geo *geo = &turn->geo;
	u32 agno, nr;

	while (turn->over_tried < WSFS_OVERFLOW_MAX) {
		nr = wsfs_geo_set_size(geo, turn->over.id);
		if (turn->over_n == nr) {
			turn->over = wsfs_next_use(turn->wsb, turn->id,
						   &turn->over);
			turn->over_n = 0;
			if (turn->over.id == WSFS_GEO_NONE)
				turn->over_tried = WSFS_OVERFLOW_MAX;
			continue;
		}
		agno = wsfs_geo_set_nth(geo, turn->over.id,
					(turn->over_start + turn->over_n++) % nr);
		/* With more streams than AGs sets are shared. */
		if (wsfs_geo_set_contains(geo, turn->id, agno))
			continue;
		turn->over_tried++;
		return agno;
	}
	return WSFS_GEO_NONE;
}

/**
 * wsfs_turn_show_overflow() - the order in which a stream goes on elsewhere
 * @wsb: the superblock
 * @id: the stream
 * @buf: a page, for sysfs
 *
 * Return: bytes of @buf: the ids of the other streams, and a newline.
 */
ssize_t wsfs_turn_show_overflow(struct wsfs_sb *wsb, u32 id, char *buf)
{
	struct wsfs_use use = { .id = WSFS_GEO_NONE };
	ssize_t len = 0;
	u32 n;

	for (n = 0; n < WSFS_OVERFLOW_MAX; n++) {
		use = wsfs_next_use(wsb, id, &use);
		if (use.id == WSFS_GEO_NONE)
			break;
		len += sysfs_emit_at(buf, len, "%s%u", n ? " " : "", use.id);
	}
	return len + sysfs_emit_at(buf, len, "\n");
}

/**
 * wsfs_turn_begin() - whose turn it is among the AGs of a set
 * @wsb: the superblock
 * @id: the stream, or WSFS_SET_*
 * @turn: filled in
 */
void wsfs_turn_begin(struct wsfs_sb *wsb, u32 id, struct wsfs_turn *turn)
{
	atomic_t *next = &wsb->spread_turn;

	wsfs_pool_geo(wsb, &turn->geo);
	turn->wsb = wsb;
	turn->id = id;
	turn->tried = 0;
	turn->goes_on = false;
	turn->over = (struct wsfs_use) { .id = WSFS_GEO_NONE };
	turn->over_n = 0;
	turn->over_tried = 0;
	switch (id) {
	case WSFS_SET_FREE:
		turn->nr = wsfs_count_free_ags(turn);
		if (turn->nr)
			break;
		turn->id = WSFS_SET_ALL;
		fallthrough;
	case WSFS_SET_ALL:
		turn->nr = turn->geo.agcount;
		break;
	default:
		turn->nr = wsfs_geo_set_size(&turn->geo, id);
		next = &wsb->streams[id].turn;
	}
	turn->start = (u32)atomic_inc_return(next) - 1;
}

/**
 * wsfs_turn_goes_on() - after the AGs of its set a stream may have others
 * @turn: from wsfs_turn_begin()
 *
 * To be called where an AG is only passed over for want of room.
 */
void wsfs_turn_goes_on(struct wsfs_turn *turn)
{
	if (turn->id >= turn->geo.streams)
		return;
	turn->goes_on = true;
	turn->over_start =
		atomic64_read(&turn->wsb->streams[turn->id].overflowed);
}

/**
 * wsfs_turn_next() - the AG to be tried next
 * @turn: from wsfs_turn_begin()
 *
 * Return: the AG, or %WSFS_GEO_NONE when each was tried.
 */
u32 wsfs_turn_next(struct wsfs_turn *turn)
{
	u32 n;

	if (turn->tried == turn->nr)
		return turn->goes_on ? wsfs_turn_overflow(turn) :
				       WSFS_GEO_NONE;
	n = (turn->start + turn->tried++) % turn->nr;
	switch (turn->id) {
	case WSFS_SET_ALL:
		return n;
	case WSFS_SET_FREE:
		/* Streams may have been reserved meanwhile. */
		return wsfs_free_ag(turn, n);
	}
	return wsfs_geo_set_nth(&turn->geo, turn->id, n);
}
