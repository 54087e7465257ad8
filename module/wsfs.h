/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wsfs: what its files share.
 *
 * "Lower" is the filesystem below: every wsfs dentry, inode and open file has
 * exactly one lower counterpart. All wsfs mounts over one lower superblock are
 * one wsfs superblock, so there is one set of inodes, and one pool of streams,
 * however often it is mounted.
 */
#ifndef _WSFS_H
#define _WSFS_H

#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/kobject.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/percpu_counter.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/xarray.h>
#include <linux/xattr.h>
#include "compat.h"
#include "geometry.h"
#include "streams.h"

/* In place of a number of streams to be set aside: wsfs chooses it. */
#define WSFS_SHARE_DEFAULT	(-2)

/* Life time hints that say something: short, medium, long, extreme */
#define WSFS_HINTS_MAX		4U

/* An empty file moves at most so often while it stays open. */
#define WSFS_MAX_MOVES	16

/**
 * struct wsfs_stream - what is counted of one stream
 * @turn: next AG of the set, modulo its size: the files of a stream take turns
 * @files: inodes in memory that carry the stream's current reservation;
 *	changed under the pool's lock
 * @homed: files placed since mount
 * @missed: files not placed, or seen with data elsewhere, since mount
 * @anchored: how often the end of a file was brought to the set, since mount
 * @overflowed: how often to an AG outside, since the set was full
 * @bytes: written by write calls under the current reservation
 * @kobj: the stream's directory in sysfs
 */
struct wsfs_stream {
	atomic_t		turn;
	u32			files;
	atomic64_t		homed;
	atomic64_t		missed;
	atomic64_t		anchored;
	atomic64_t		overflowed;
	struct percpu_counter	bytes;
	struct kobject		*kobj;
};

struct fs_write_stream;
struct fsnotify_mark;
struct wsfs_home;
struct wsfs_dir_place;
struct wsfs_file_info;

/**
 * struct wsfs_sb - a wsfs superblock
 * @lower_mnt: private clone of the mount of the first LOWERDIR, or private
 *	mount of the device; its root the lower superblock's own
 * @device: the first mount named the device
 * @xfs_fc: XFS's options, until the device is mounted or remounted
 * @cred: the mounter's, for what wsfs does in its own directory, and for what
 *	the VFS has judged already
 * @pool: the streams; NULL until the superblock is filled
 * @streams: one for each stream of @pool
 * @geo: geometry of the lower; written under the pool's lock
 * @home: state of agdirs.c, NULL where there are no streams
 * @filestreams: the lower is mounted with XFS's filestreams
 * @spread: where files without a stream are made: WSFS_DIR_*
 * @spread_turn: next AG for those that are spread, as wsfs_stream.turn
 * @spread_homed: files placed so since mount
 * @spread_missed: files that could not be placed so since mount
 * @grpid: the lower is mounted with XFS's grpid
 * @dirs: directories with a place for their files, by lower inode number
 * @hints_reset: life time hints reset because the file had a stream
 * @lower_wb_err: write-back errors of the lower that wsfs has taken over
 * @wb_err_lock: protects @lower_wb_err
 * @error_mark: state of fserror.c
 * @refreshed: when the lower was last asked for its size, in jiffies
 * @hints: streams set aside for life time hints
 * @numbered: streams set aside for the numbered interface, the last ones
 * @opt_streams: streams= of the mount, or -1
 * @opt_hints: hints of the mount, -1, or %WSFS_SHARE_DEFAULT without a number
 * @opt_numbered: numbered of the mount, likewise
 * @opt_spread: spread of the mount as WSFS_DIR_*, or -1
 * @kobj: directory in sysfs
 * @streams_kobj: the one of the streams in it
 */
struct wsfs_sb {
	struct vfsmount		*lower_mnt;
	bool			device;
	struct fs_context	*xfs_fc;
	const struct cred	*cred;
	struct ws_pool		*pool;
	struct wsfs_stream	*streams;
	struct wsfs_geo		geo;
	struct wsfs_home	*home;
	bool			filestreams;
	bool			grpid;
	u32			spread;
	atomic_t		spread_turn;
	atomic64_t		spread_homed;
	atomic64_t		spread_missed;
	struct xarray		dirs;
	atomic64_t		hints_reset;
	errseq_t		lower_wb_err;
	spinlock_t		wb_err_lock;	/* see above */
	struct fsnotify_mark	*error_mark;
	unsigned long		refreshed;
	u32			hints;
	u32			numbered;
	int			opt_streams;
	int			opt_hints;
	int			opt_numbered;
	int			opt_spread;
	struct kobject		*kobj;
	struct kobject		*streams_kobj;
};

/* Bits of wsfs_inode.state */
enum {
	/*
	 * The lower inode is final until the last open file is gone. Set by
	 * the first write, mapping or allocation; never cleared while a file
	 * is open. Who has seen it needs no lock to use the lower inode.
	 */
	WSFS_PINNED,
	/* home.c is exchanging the lower inode; pinning waits for it. */
	WSFS_MOVING,
	/* A directory whose lower is ahead of our dcache; see namei.c. */
	WSFS_CHANGING,
};

/* Bits of wsfs_inode.flags, under wsfs_inode.lock */
enum {
	WSFS_HOMED,
	WSFS_MISSED,
	/* Not moved by SET, but what it gets from now on goes home. */
	WSFS_ANCHORED,
	/* The next write, or an fsync or close after it, anchors the file. */
	WSFS_ARMED,
	/* The lower still has XFS's mark of a shared file, from an anchor. */
	WSFS_UNSHARE,
	/* Blocks past the end are nobody's preallocation: see anchor.c. */
	WSFS_TRIM,
	/* The stream is that of the life time hint. */
	WSFS_BY_HINT,
};

/**
 * struct wsfs_inode - a wsfs inode
 * @lower: the lower inode, referenced. That of a regular file changes under
 *	@lock and the i_lock while WSFS_MOVING is set.
 * @state: WSFS_PINNED and so on; atomic bit operations
 * @stream: the stream, by value; WRITE_ONCE() under @lock. Of a directory, the
 *	one that files are born in; under its i_rwsem
 * @lock: regular files: opening, releasing, SET. Taken inside the i_rwsem.
 *	Never taken with mmap_lock held: SET holds it while it takes locks of
 *	the lower inside which user memory is faulted in.
 * @files: open files, under @lock
 * @flags: WSFS_HOMED and so on; atomic bit operations
 * @moves: how often the file moved since it was first opened, under @lock
 * @home_agno: AG that SET chose, under @lock
 * @armed_at: size when the file was armed, under @lock
 * @anchored_at: up to here the file may lie elsewhere, under @lock
 * @anchor_retry: no stray is brought back before this time, in jiffies
 * @hint: life time hint that @stream was last chosen by; WRITE_ONCE() under
 *	@lock
 * @births: directories: WSFS_DIR_*, under the i_rwsem
 * @vfs_inode: the VFS's part
 */
struct wsfs_inode {
	struct inode		*lower;
	unsigned long		state;
	struct ws_stream_ref	stream;
	struct mutex		lock;	/* see above */
	struct list_head	files;
	unsigned long		flags;
	u32			moves;
	u32			home_agno;
	loff_t			armed_at;
	loff_t			anchored_at;
	unsigned long		anchor_retry;
	enum rw_hint		hint;
	u32			births;
	struct inode		vfs_inode;
};

/**
 * struct wsfs_file - private data of an open wsfs file
 * @lower: the open lower file. Replaced by cmpxchg() when the inode has moved;
 *	the file replaced stays in @old, so that whoever still uses it can.
 * @node: in wsfs_inode.files
 * @old: files that @lower was before, until release
 */
struct wsfs_file {
	struct file		*lower;
	struct list_head	node;
	struct llist_head	old;
};

static inline struct wsfs_sb *WSFS_SB(const struct super_block *sb)
{
	return sb->s_fs_info;
}

static inline struct wsfs_inode *WSFS_I(const struct inode *inode)
{
	return container_of(inode, struct wsfs_inode, vfs_inode);
}

/* Stable for all but regular files; of those see wsfs_lower_inode_get(). */
static inline struct inode *wsfs_lower_inode(const struct inode *inode)
{
	return READ_ONCE(WSFS_I(inode)->lower);
}

/*
 * Stable for all but regular files, and for those while the i_rwsem of the
 * file or of its parent is held; else see wsfs_lower_dentry_get().
 */
static inline struct dentry *wsfs_lower_dentry(const struct dentry *dentry)
{
	return READ_ONCE(dentry->d_fsdata);
}

static inline struct vfsmount *wsfs_lower_mnt(const struct super_block *sb)
{
	return WSFS_SB(sb)->lower_mnt;
}

static inline struct super_block *wsfs_lower_sb(const struct super_block *sb)
{
	return wsfs_lower_mnt(sb)->mnt_sb;
}

static inline struct mnt_idmap *wsfs_lower_idmap(const struct super_block *sb)
{
	return mnt_idmap(wsfs_lower_mnt(sb));
}

/* super.c */
extern struct file_system_type wsfs_fs_type;

/* device.c */
int wsfs_device_param(struct fs_context *fc, struct fs_parameter *param);
struct vfsmount *wsfs_device_mount(struct fs_context *fc);
int wsfs_device_reconfigure(struct fs_context *fc, struct super_block *lower);

/* namei.c */
extern const struct inode_operations wsfs_dir_iops;
extern const struct dentry_operations wsfs_dentry_ops;
int wsfs_d_revalidate(struct inode *dir, const struct qstr *name,
		      struct dentry *dentry, unsigned int flags);
int wsfs_create(struct mnt_idmap *idmap, struct inode *dir,
		struct dentry *dentry, umode_t mode);
struct dentry *wsfs_mkdir(struct mnt_idmap *idmap, struct inode *dir,
			  struct dentry *dentry, umode_t mode);
int wsfs_remove_locked(struct vfsmount *mnt, struct dentry *lower);
void wsfs_change_begin(struct inode *dir);
void wsfs_change_end(struct inode *dir);
bool wsfs_name_reserved(const struct dentry *parent, const struct qstr *name);
struct dentry *wsfs_dentry_for_lower(struct super_block *sb,
				     struct dentry *lower);

/* inode.c */
extern const struct xattr_handler * const wsfs_xattr_handlers[];
int __init wsfs_inode_cache_init(void);
void wsfs_inode_cache_exit(void);
struct inode *wsfs_alloc_inode(struct super_block *sb);
void wsfs_free_inode(struct inode *inode);
void wsfs_evict_inode(struct inode *inode);
struct inode *wsfs_iget(struct super_block *sb, struct inode *lower);
struct inode *wsfs_ilookup(struct super_block *sb, struct inode *lower);
void wsfs_inode_rehash(struct inode *inode, struct inode *lower);
struct inode *wsfs_lower_inode_get(const struct inode *inode);
struct dentry *wsfs_lower_dentry_get(const struct dentry *dentry);
void wsfs_copy_attr(struct inode *inode);
void wsfs_copy_size(struct inode *inode, const struct inode *lower);
int wsfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask);
int wsfs_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
		 struct iattr *attr);
int wsfs_getattr(struct mnt_idmap *idmap, const struct path *path,
		 struct kstat *stat, u32 request_mask, unsigned int flags);
ssize_t wsfs_listxattr(struct dentry *dentry, char *list, size_t size);
struct posix_acl *wsfs_get_inode_acl(struct inode *inode, int type, bool rcu);
struct posix_acl *wsfs_get_acl(struct mnt_idmap *idmap, struct dentry *dentry,
			       int type);
int wsfs_set_acl(struct mnt_idmap *idmap, struct dentry *dentry,
		 struct posix_acl *acl, int type);
int wsfs_update_time(struct inode *inode, enum fs_update_time type,
		     unsigned int flags);
int wsfs_fileattr_get(struct dentry *dentry, struct file_kattr *fa);
int wsfs_fileattr_set(struct mnt_idmap *idmap, struct dentry *dentry,
		      struct file_kattr *fa);

/* file.c */
extern const struct file_operations wsfs_file_fops;
int __init wsfs_aio_init(void);
void wsfs_aio_exit(void);
struct file *wsfs_file_lower(struct file *file, bool pin, bool nowait);
struct wsfs_file *wsfs_file_alloc(struct file *lower);
void wsfs_file_free(struct wsfs_file *wf);
void wsfs_file_accessed(struct file *file);
void wsfs_iocb_init(struct kiocb *iocb, struct kiocb *orig, struct file *lower);
void wsfs_written(struct inode *inode, struct inode *lower, long ret);

/* subblock.c */
bool wsfs_subblock_write(struct kiocb *iocb, struct iov_iter *iter,
			 struct file *lower, ssize_t *ret);

/* A direct write of parts of blocks: all that aligned ones pay for it */
static inline bool wsfs_is_subblock(const struct kiocb *iocb,
				    const struct iov_iter *iter,
				    const struct inode *inode)
{
	return (iocb->ki_flags & IOCB_DIRECT) &&
	       ((iocb->ki_pos | iov_iter_count(iter)) &
		(i_blocksize(inode) - 1));
}

/* swap.c */
extern const struct address_space_operations wsfs_aops;
bool wsfs_file_for_swap(struct inode *inode, const struct file *file);

/* dir.c */
extern const struct file_operations wsfs_dir_fops;

/* ioctl.c */
long wsfs_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#ifdef CONFIG_COMPAT
long wsfs_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#endif

/* numbered.c */
long wsfs_numbered_ioctl(struct file *file, struct fs_write_stream __user *arg);

/* pool.c */
int wsfs_pool_init(struct super_block *sb, struct fs_context *fc);
void wsfs_pool_exit(struct wsfs_sb *wsb);
void wsfs_pool_geo(struct wsfs_sb *wsb, struct wsfs_geo *geo);
void wsfs_pool_refresh(struct wsfs_sb *wsb);
void wsfs_pool_refresh_due(struct wsfs_sb *wsb);

/* steer.c */
int wsfs_steer_may_set(struct file *file);
bool wsfs_steer_on_data(struct file *file);
u32 wsfs_steer_nr(struct file *file);
int wsfs_lower_xflags(const struct dentry *dentry, u32 *xflags);
void wsfs_steer_born(struct dentry *dentry, struct dentry *parent,
		     struct ws_stream_ref ref, u32 agno);
void wsfs_steer_spread(struct dentry *dentry, struct dentry *parent, u32 set,
		       u32 agno);
int wsfs_steer_set(struct file *file, int stream_fd);
int wsfs_steer_set_ref(struct file *file, struct ws_stream_ref ref);
int wsfs_steer_hint(struct file *file, bool nowait);
int wsfs_steer_clear(struct file *file);
void wsfs_steer_forget(struct inode *inode);
void wsfs_steer_written(struct inode *inode, ssize_t bytes);
void wsfs_steer_miss(struct inode *inode, u32 id, const char *why);
void wsfs_steer_overflow(struct inode *inode, u32 id, u32 agno);
void wsfs_steer_check(struct inode *inode, struct file *lower, bool closing);
void wsfs_steer_shared(struct inode *inode, loff_t end);
void wsfs_steer_sync_hint(struct inode *inode, struct inode *lower);
void wsfs_steer_info(struct inode *inode, struct wsfs_file_info *info);
bool wsfs_inode_stream(const struct inode *inode, u32 *id);

/* All that a file pays for hints whose stream is chosen, or that has none */
static inline bool wsfs_hint_is_due(const struct inode *inode)
{
	return READ_ONCE(inode->i_write_hint) != READ_ONCE(WSFS_I(inode)->hint);
}

/* In place of a stream: all AGs, and those that no reserved stream owns */
#define WSFS_SET_ALL	(WSFS_GEO_NONE - 1)
#define WSFS_SET_FREE	(WSFS_GEO_NONE - 2)

/**
 * struct wsfs_use - where a stream stands in the order of overflow
 * @id: the stream
 * @reserved: somebody holds it
 * @bytes: written under the reservation
 */
struct wsfs_use {
	u32	id;
	bool	reserved;
	s64	bytes;
};

/**
 * struct wsfs_turn - the AGs that a file may go to, in the order to be tried
 * @wsb: the superblock
 * @geo: geometry at the time
 * @id: stream whose set it is, or WSFS_SET_*
 * @nr: AGs to choose from
 * @start: the first one, of @nr
 * @tried: how many were taken
 * @goes_on: when all were, others follow
 * @over: the stream whose AGs they are
 * @over_start: the first one of these, modulo their number
 * @over_n: how many of that one's were taken
 * @over_tried: how many of all were
 */
struct wsfs_turn {
	struct wsfs_sb		*wsb;
	struct wsfs_geo		geo;
	u32			id;
	u32			nr;
	u32			start;
	u32			tried;
	bool			goes_on;
	struct wsfs_use		over;
	u32			over_start;
	u32			over_n;
	u32			over_tried;
};

/* turn.c */
void wsfs_turn_begin(struct wsfs_sb *wsb, u32 id, struct wsfs_turn *turn);
void wsfs_turn_goes_on(struct wsfs_turn *turn);
u32 wsfs_turn_next(struct wsfs_turn *turn);
ssize_t wsfs_turn_show_overflow(struct wsfs_sb *wsb, u32 id, char *buf);

/* birth.c */

/**
 * struct wsfs_birth - where a new file is made
 * @how: WSFS_DIR_*, not %WSFS_DIR_DEFAULT
 * @ref: the stream it will carry
 * @agno: AG it is made in, or %WSFS_GEO_NONE
 * @file: the file, when it is made before it has a name
 */
struct wsfs_birth {
	u32			how;
	struct ws_stream_ref	ref;
	u32			agno;
	struct file		*file;
};

void wsfs_birth_begin(struct wsfs_birth *birth, struct mnt_idmap *idmap,
		      struct inode *dir, struct dentry *dentry, umode_t mode);
int wsfs_birth_link(struct wsfs_birth *birth, struct dentry *lower);
void wsfs_birth_end(struct wsfs_birth *birth, struct dentry *dentry,
		    struct dentry *parent, int err);
struct cred *wsfs_birth_tmpfile(struct wsfs_birth *birth,
				struct mnt_idmap *idmap, struct inode *dir,
				struct dentry *dentry, umode_t mode,
				struct dentry **agdir);
void wsfs_birth_inherit(struct inode *dir, struct inode *inode);
void wsfs_birth_recall(struct inode *inode);
void wsfs_birth_forget(struct inode *inode);
void wsfs_birth_exit(struct wsfs_sb *wsb);
int wsfs_birth_set_dir(struct file *file,
		       const struct wsfs_dir_place *place);

/* carry.c */
int wsfs_carry(struct wsfs_sb *wsb, struct dentry *new, struct dentry *old,
	       const struct kstat *stat);

/* agdirs.c */
int wsfs_home_init(struct super_block *sb, struct fs_context *fc);
void wsfs_home_sweep(struct wsfs_sb *wsb);
void wsfs_home_exit(struct wsfs_sb *wsb);
bool wsfs_home_exists(const struct super_block *sb);
int wsfs_home_statfs(struct wsfs_sb *wsb, struct kstatfs *st);
struct dentry *wsfs_home_agdir(struct wsfs_sb *wsb, u32 agno);
struct dentry *wsfs_home_make(struct wsfs_sb *wsb, struct dentry *agdir,
			      u32 agno);
int wsfs_home_remove(struct wsfs_sb *wsb, struct dentry *dir,
		     struct dentry *dentry);
bool wsfs_home_is_full(struct wsfs_sb *wsb, u32 agno);
void wsfs_home_note_full(struct wsfs_sb *wsb, u32 agno);

/* home.c */
const char *wsfs_home_place(struct dentry *dentry, struct dentry *parent,
			    u32 id, u32 *agno);

/* anchor.c */
const char *wsfs_anchor(struct inode *inode, struct dentry *dentry, u32 id);
void wsfs_anchor_armed(struct inode *inode, struct file *lower);
int wsfs_anchor_write(struct inode *inode, struct file *lower, bool nowait);
void wsfs_anchor_truncated(struct inode *inode, struct dentry *dentry);
void wsfs_anchor_settle(struct inode *inode, struct file *lower, bool closing);

/* All that a file with nothing to be anchored pays for it */
static inline bool wsfs_is_armed(const struct inode *inode)
{
	return test_bit(WSFS_ARMED, &WSFS_I(inode)->flags);
}

/*
 * Would a write to the lower wait for a thaw? Only to be asked by who can do
 * without: the answer may change.
 */
static inline bool wsfs_lower_frozen(struct super_block *lower)
{
	if (!sb_start_write_trylock(lower))
		return true;
	sb_end_write(lower);
	return false;
}

/* export.c */
void wsfs_export_init(struct super_block *sb);

/* quota.c */
void wsfs_quota_init(struct super_block *sb);

/* fserror.c */
#if WSFS_HAS_FSERROR
int __init wsfs_fserror_init(void);
void wsfs_fserror_exit(void);
int wsfs_fserror_add(struct super_block *sb);
void wsfs_fserror_del(struct wsfs_sb *wsb);
#else
static inline int wsfs_fserror_init(void)
{
	return 0;
}

static inline void wsfs_fserror_exit(void)
{
}

static inline int wsfs_fserror_add(struct super_block *sb)
{
	return 0;
}

static inline void wsfs_fserror_del(struct wsfs_sb *wsb)
{
}
#endif

/* sysfs.c */
int __init wsfs_sysfs_init(void);
void wsfs_sysfs_exit(void);
int wsfs_sysfs_add(struct wsfs_sb *wsb);
void wsfs_sysfs_del(struct wsfs_sb *wsb);
void wsfs_sysfs_name(const struct wsfs_sb *wsb, char *buf, size_t size);

#endif /* _WSFS_H */
