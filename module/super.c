// SPDX-License-Identifier: GPL-2.0
/*
 * The module, mounting, and the superblock.
 *
 * mount -t wsfs SOURCE MOUNTPOINT. SOURCE is a directory of a mounted
 * filesystem, or a device (device.c). All mounts over one lower superblock are
 * one wsfs superblock whose root stands for the lower's root; what a mount
 * shows is the wsfs dentry of its directory.
 */

#include <linux/fs_parser.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/seq_file.h>
#include <linux/statfs.h>
#include "../uapi/linux/wsfs.h"
#include "wsfs.h"

enum {
	WSFS_OPT_STREAMS,
	WSFS_OPT_SPREAD,
	WSFS_OPT_SPREAD_OVER,
	WSFS_OPT_HINTS,
	WSFS_OPT_HINTS_NR,
	WSFS_OPT_NUMBERED,
	WSFS_OPT_NUMBERED_NR,
};

static const struct constant_table wsfs_spread_table[] = {
	{ "all",	WSFS_DIR_SPREAD },
	{ "free",	WSFS_DIR_SPREAD_FREE },
	{}
};

static const struct fs_parameter_spec wsfs_parameters[] = {
	fsparam_u32("streams", WSFS_OPT_STREAMS),
	fsparam_flag_no("spread", WSFS_OPT_SPREAD),
	fsparam_enum("spread", WSFS_OPT_SPREAD_OVER, wsfs_spread_table),
	fsparam_flag("hints", WSFS_OPT_HINTS),
	fsparam_u32("hints", WSFS_OPT_HINTS_NR),
	fsparam_flag("numbered", WSFS_OPT_NUMBERED),
	fsparam_u32("numbered", WSFS_OPT_NUMBERED_NR),
	{}
};

static int wsfs_parse_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct wsfs_sb *wsb = fc->s_fs_info;
	struct fs_parse_result result;
	int opt = fs_parse(fc, wsfs_parameters, param, &result);

	/* The VFS takes the source itself. */
	if (opt == -ENOPARAM && strcmp(param->key, "source"))
		return wsfs_device_param(fc, param);
	if (opt < 0)
		return opt;
	switch (opt) {
	case WSFS_OPT_STREAMS:
		if (result.uint_32 > WSFS_GEO_STREAMS_MAX)
			return invalf(fc, "streams=%u: at most %u",
				      result.uint_32, WSFS_GEO_STREAMS_MAX);
		wsb->opt_streams = result.uint_32;
		break;
	case WSFS_OPT_SPREAD:
		wsb->opt_spread = result.negated ? WSFS_DIR_NEAR :
						   WSFS_DIR_SPREAD;
		break;
	case WSFS_OPT_SPREAD_OVER:
		wsb->opt_spread = result.uint_32;
		break;
	case WSFS_OPT_HINTS:
		wsb->opt_hints = WSFS_SHARE_DEFAULT;
		break;
	case WSFS_OPT_HINTS_NR:
		if (!result.uint_32 || result.uint_32 > 4)
			return invalf(fc, "hints=%u: 1 to 4 streams, one for each life time",
				      result.uint_32);
		wsb->opt_hints = result.uint_32;
		break;
	case WSFS_OPT_NUMBERED:
		wsb->opt_numbered = WSFS_SHARE_DEFAULT;
		break;
	case WSFS_OPT_NUMBERED_NR:
		if (!result.uint_32 || result.uint_32 > WSFS_GEO_STREAMS_MAX)
			return invalf(fc, "numbered=%u: 1 to %u streams",
				      result.uint_32, WSFS_GEO_STREAMS_MAX);
		wsb->opt_numbered = result.uint_32;
		break;
	}
	return 0;
}

static void wsfs_sb_free(struct wsfs_sb *wsb)
{
	if (!wsb)
		return;
	wsfs_birth_exit(wsb);
	wsfs_home_exit(wsb);
	wsfs_pool_exit(wsb);
	if (wsb->xfs_fc)
		put_fs_context(wsb->xfs_fc);
	if (wsb->lower_mnt)
		kern_unmount(wsb->lower_mnt);
	put_cred(wsb->cred);
	kfree(wsb);
}

/*
 * syncfs(2) reports an error in write-back once to each file that was open, by
 * the count in the superblock: the lower's errors are counted in ours.
 */
static void wsfs_take_wb_err(struct super_block *sb)
{
	struct wsfs_sb *wsb = WSFS_SB(sb);
	int err;

	spin_lock(&wsb->wb_err_lock);
	err = errseq_check_and_advance(&wsfs_lower_sb(sb)->s_wb_err,
				       &wsb->lower_wb_err);
	if (err)
		errseq_set(&sb->s_wb_err, err);
	spin_unlock(&wsb->wb_err_lock);
}

static int wsfs_sync_fs(struct super_block *sb, int wait)
{
	struct super_block *lower = wsfs_lower_sb(sb);
	int err;

	/* sync(2) comes to the lower by itself: SB_I_SKIP_SYNC. */
	if (!wait)
		return 0;
	down_read(&lower->s_umount);
	err = sync_filesystem(lower);
	up_read(&lower->s_umount);
	wsfs_take_wb_err(sb);
	return err;
}

/*
 * Freezing wsfs freezes the lower: a snapshot of the device below has to find
 * XFS at rest, and mapped files are written without wsfs.
 */
static int wsfs_freeze_fs(struct super_block *sb)
{
	return wsfs_freeze_lower(wsfs_lower_sb(sb));
}

static int wsfs_unfreeze_fs(struct super_block *sb)
{
	return wsfs_thaw_lower(wsfs_lower_sb(sb));
}

static int wsfs_statfs(struct dentry *dentry, struct kstatfs *buf)
{
	struct path path = {
		.mnt = wsfs_lower_mnt(dentry->d_sb),
		.dentry = wsfs_lower_dentry_get(dentry),
	};
	int err = vfs_statfs(&path, buf);

	dput(path.dentry);
	/*
	 * f_type stays the lower's: programs choose by it how to use a
	 * filesystem, and all that they then do works here.
	 */
	return err;
}

static void wsfs_show_spread(struct seq_file *m, u32 spread)
{
	const struct constant_table *entry;

	for (entry = wsfs_spread_table; entry->name; entry++)
		if (entry->value == spread)
			seq_printf(m, ",spread=%s", entry->name);
}

static int wsfs_show_options(struct seq_file *m, struct dentry *root)
{
	const struct wsfs_sb *wsb = WSFS_SB(root->d_sb);
	struct super_block *lower = wsb->lower_mnt->mnt_sb;

	seq_printf(m, ",streams=%u", ws_pool_nr(wsb->pool));
	wsfs_show_spread(m, READ_ONCE(wsb->spread));
	if (wsb->hints)
		seq_printf(m, ",hints=%u", wsb->hints);
	if (wsb->numbered)
		seq_printf(m, ",numbered=%u", wsb->numbered);
	/* Nobody else shows those of a mount without a path. */
	if (wsb->device && lower->s_op->show_options)
		return lower->s_op->show_options(m, lower->s_root);
	return 0;
}

/* /proc/self/mountstats: what the lower tells of itself */
static int wsfs_show_stats(struct seq_file *seq, struct dentry *root)
{
	struct dentry *lower = wsfs_lower_sb(root->d_sb)->s_root;
	const struct super_operations *ops = lower->d_sb->s_op;

	return ops->show_stats ? ops->show_stats(seq, lower) : 0;
}

static const struct super_operations wsfs_sops = {
	.alloc_inode	= wsfs_alloc_inode,
	.free_inode	= wsfs_free_inode,
	.evict_inode	= wsfs_evict_inode,
	/* Kept as long as a dentry needs it: it holds the lower inode. */
	.drop_inode	= inode_just_drop,
	.sync_fs	= wsfs_sync_fs,
	.freeze_fs	= wsfs_freeze_fs,
	.unfreeze_fs	= wsfs_unfreeze_fs,
	.statfs		= wsfs_statfs,
	.show_options	= wsfs_show_options,
	.show_stats	= wsfs_show_stats,
};

/* Refuse what could not be kept coherent, before anything is touched. */
static int wsfs_check_lower(struct fs_context *fc, const struct path *path)
{
	struct super_block *lower = path->mnt->mnt_sb;

	if (lower->s_type == &wsfs_fs_type)
		return invalf(fc, "%s: is on wsfs already", fc->source);
	if (lower->s_stack_depth >= FILESYSTEM_MAX_STACK_DEPTH)
		return invalf(fc, "%s: too many filesystems are stacked",
			      fc->source);
	if (is_idmapped_mnt(path->mnt))
		return invalf(fc, "%s: is on an idmapped mount", fc->source);
	if (!is_subdir(path->dentry, lower->s_root) ||
	    (lower->s_root->d_flags & (DCACHE_OP_HASH | DCACHE_OP_COMPARE |
				       DCACHE_OP_REVALIDATE)))
		return invalf(fc, "%s: %s is not a local filesystem",
			      fc->source, lower->s_type->name);
	if (!(fc->sb_flags & SB_RDONLY) &&
	    (sb_rdonly(lower) || __mnt_is_readonly(path->mnt))) {
		errorf(fc, "%s: is read-only; mount with -o ro", fc->source);
		return -EROFS;
	}
	return 0;
}

static int wsfs_fill_super(struct super_block *sb, struct fs_context *fc)
{
	struct wsfs_sb *wsb = WSFS_SB(sb);
	struct super_block *lower = wsfs_lower_sb(sb);
	struct inode *root;
	int err;

	sb->s_op = &wsfs_sops;
	wsfs_set_d_op(sb, &wsfs_dentry_ops);
	sb->s_xattr = wsfs_xattr_handlers;
	sb->s_magic = WSFS_SUPER_MAGIC;
	sb->s_stack_depth = lower->s_stack_depth + 1;
	sb->s_blocksize = lower->s_blocksize;
	sb->s_blocksize_bits = lower->s_blocksize_bits;
	sb->s_maxbytes = lower->s_maxbytes;
	sb->s_time_gran = lower->s_time_gran;
	sb->s_time_min = lower->s_time_min;
	sb->s_time_max = lower->s_time_max;
	sb->s_flags |= lower->s_flags & SB_POSIXACL;
	sb->s_iflags |= SB_I_SKIP_SYNC |
			(lower->s_iflags & (SB_I_NOUMASK | SB_I_NOIDMAP |
					    WSFS_SB_I_ALLOW_HSM));
	/* The idmap of our mount is the one that the lower sees. */
	if (!(lower->s_type->fs_flags & FS_ALLOW_IDMAP))
		sb->s_iflags |= SB_I_NOIDMAP;
	super_set_uuid(sb, lower->s_uuid.b, lower->s_uuid_len);
	snprintf(sb->s_id, sizeof(sb->s_id), "%s", lower->s_id);
	wsfs_sysfs_name(wsb, sb->s_sysfs_name, sizeof(sb->s_sysfs_name));
	spin_lock_init(&wsb->wb_err_lock);
	wsb->lower_wb_err = errseq_sample(&lower->s_wb_err);
	wsfs_export_init(sb);
	wsfs_quota_init(sb);

	wsb->spread = wsb->opt_spread >= 0 ? wsb->opt_spread : WSFS_DIR_NEAR;
	err = wsfs_pool_init(sb, fc);
	if (err)
		return err;
	if (wsb->spread != WSFS_DIR_NEAR && !wsb->geo.agblocks)
		return invalf(fc, "%s: spread needs XFS version 5 below, this is %s",
			      fc->source, lower->s_type->name);
	if (wsb->spread != WSFS_DIR_NEAR && wsb->filestreams)
		return invalf(fc, "%s: spread and XFS's filestreams exclude each other",
			      fc->source);
	err = wsfs_home_init(sb, fc);
	if (err)
		return err;

	err = wsfs_fserror_add(sb);
	if (err)
		return err;
	root = wsfs_iget(sb, d_inode(lower->s_root));
	if (IS_ERR(root))
		return PTR_ERR(root);
	sb->s_root = d_make_root(root);
	if (!sb->s_root)
		return -ENOMEM;
	sb->s_root->d_fsdata = dget(lower->s_root);
	return wsfs_sysfs_add(wsb);
}

/*
 * The VFS offers a superblock to wsfs_sb_test() until after wsfs_kill_sb() has
 * freed what there is to compare with.
 */
static DEFINE_SPINLOCK(wsfs_kill_lock);

static int wsfs_sb_test(struct super_block *sb, struct fs_context *fc)
{
	const struct wsfs_sb *wsb = fc->s_fs_info;
	int same;

	spin_lock(&wsfs_kill_lock);
	same = sb->s_fs_info && wsfs_lower_sb(sb) == wsb->lower_mnt->mnt_sb;
	spin_unlock(&wsfs_kill_lock);
	return same;
}

/* Was a number of streams asked for other than that of the filesystem? */
static bool wsfs_share_differs(int opt, u32 share)
{
	return opt == WSFS_SHARE_DEFAULT ? !share : opt >= 0 && opt != share;
}

static bool wsfs_shares_differ(const struct wsfs_sb *opts,
			       const struct wsfs_sb *wsb)
{
	return wsfs_share_differs(opts->opt_hints, wsb->hints) ||
	       wsfs_share_differs(opts->opt_numbered, wsb->numbered);
}

static int wsfs_get_sb(struct fs_context *fc, struct dentry *lower_dir)
{
	const struct wsfs_sb *opts = fc->s_fs_info;
	int streams = opts->opt_streams, spread = opts->opt_spread;
	struct super_block *sb = sget_fc(fc, wsfs_sb_test, set_anon_super_fc);
	struct dentry *root;
	int err;

	if (IS_ERR(sb))
		return PTR_ERR(sb);
	if (!sb->s_root) {
		err = wsfs_fill_super(sb, fc);
		if (err)
			goto out_deactivate;
		sb->s_flags |= SB_ACTIVE;
	} else {
		err = -EBUSY;
		if ((fc->sb_flags ^ sb->s_flags) & SB_RDONLY) {
			errorf(fc, "%s: this filesystem is mounted by wsfs, and %s", fc->source,
			       sb_rdonly(sb) ? "read-only" : "writable");
			goto out_deactivate;
		}
		if (streams >= 0 && streams != ws_pool_nr(WSFS_SB(sb)->pool)) {
			errorf(fc, "%s: this filesystem is mounted by wsfs, and with streams=%u",
			       fc->source, ws_pool_nr(WSFS_SB(sb)->pool));
			goto out_deactivate;
		}
		if (wsfs_shares_differ(opts, WSFS_SB(sb))) {
			errorf(fc, "%s: mounted by wsfs already, with hints=%u, numbered=%u",
			       fc->source, WSFS_SB(sb)->hints,
			       WSFS_SB(sb)->numbered);
			goto out_deactivate;
		}
		if (spread >= 0 && spread != WSFS_SB(sb)->spread) {
			errorf(fc, "%s: mounted by wsfs already, with another spread; remount it",
			       fc->source);
			goto out_deactivate;
		}
	}
	root = wsfs_dentry_for_lower(sb, lower_dir);
	if (IS_ERR(root)) {
		err = PTR_ERR(root);
		errorf(fc, "%s: cannot be shown by wsfs", fc->source);
		goto out_deactivate;
	}
	fc->root = root;
	return 0;

out_deactivate:
	deactivate_locked_super(sb);
	return err;
}

/* A directory as source: its mount is cloned, so that only we can change it. */
static struct vfsmount *wsfs_clone_lower(struct fs_context *fc,
					 const struct path *path)
{
	const struct wsfs_sb *wsb = fc->s_fs_info;
	struct vfsmount *mnt;

	if (wsb->xfs_fc)
		return ERR_PTR(invalf(fc, "%s: is a directory; its XFS has its options already",
				      fc->source));
	mnt = clone_private_mount(&(struct path) {
		.mnt = path->mnt,
		.dentry = path->mnt->mnt_sb->s_root,
	});
	if (IS_ERR(mnt))
		errorf(fc, "%s: its mount cannot be cloned", fc->source);
	return mnt;
}

static const struct cred *wsfs_prepare_cred(void)
{
	struct cred *cred = prepare_creds();

	/* The lower's owners and modes are not to stand in its way. */
	if (cred)
		cred->cap_effective = cap_combine(cred->cap_effective,
						  CAP_FS_SET);
	return cred;
}

/*
 * With a directory as source nothing can be asked of the lower that it does not
 * do by itself: what is written is as durable as it makes it.
 */
static int wsfs_check_sync(struct fs_context *fc,
			   const struct super_block *lower)
{
	unsigned int wanted = fc->sb_flags & fc->sb_flags_mask;

	if (wanted & (SB_SYNCHRONOUS | SB_DIRSYNC) & ~lower->s_flags)
		return invalf(fc, "sync and dirsync are for the XFS below: mount that with it");
	return 0;
}

static int wsfs_get_tree(struct fs_context *fc)
{
	struct wsfs_sb *wsb = fc->s_fs_info;
	struct vfsmount *mnt;
	struct path path;
	int err;

	/* An empty path would be the working directory. */
	if (!fc->source || !*fc->source)
		return invalf(fc, "no device or directory given to mount");
	err = kern_path(fc->source, LOOKUP_FOLLOW, &path);
	if (err) {
		errorf(fc, "%s: no such device or directory", fc->source);
		return err;
	}
	wsb->device = S_ISBLK(d_inode(path.dentry)->i_mode);
	if (wsb->device) {
		path_put(&path);
		mnt = wsfs_device_mount(fc);
		if (IS_ERR(mnt))
			return PTR_ERR(mnt);
		wsb->lower_mnt = mnt;
		path = (struct path) { .mnt = mnt, .dentry = mnt->mnt_root };
		path_get(&path);
	}
	if (!d_is_dir(path.dentry)) {
		errorf(fc, "%s: is neither a directory nor a block device",
		       fc->source);
		err = -ENOTDIR;
		goto out;
	}
	err = wsfs_check_lower(fc, &path);
	if (!err && !wsb->device)
		err = wsfs_check_sync(fc, path.mnt->mnt_sb);
	if (err)
		goto out;
	if (!wsb->device) {
		mnt = wsfs_clone_lower(fc, &path);
		if (IS_ERR(mnt)) {
			err = PTR_ERR(mnt);
			goto out;
		}
		wsb->lower_mnt = mnt;
	}
	wsb->cred = wsfs_prepare_cred();
	err = wsb->cred ? wsfs_get_sb(fc, path.dentry) : -ENOMEM;
out:
	path_put(&path);
	return err;
}

static int wsfs_reconfigure_lower(struct fs_context *fc, struct super_block *sb,
				  const struct wsfs_sb *opts)
{
	const struct wsfs_sb *wsb = WSFS_SB(sb);

	if (wsb->device)
		return wsfs_device_reconfigure(fc, wsfs_lower_sb(sb));
	if (opts->xfs_fc)
		return invalf(fc, "the source is a directory; remount the XFS for its options");
	if (!(fc->sb_flags & SB_RDONLY) &&
	    (sb_rdonly(wsfs_lower_sb(sb)) ||
	     __mnt_is_readonly(wsb->lower_mnt))) {
		errorf(fc, "the filesystem below is read-only");
		return -EROFS;
	}
	return wsfs_check_sync(fc, wsfs_lower_sb(sb));
}

static int wsfs_reconfigure(struct fs_context *fc)
{
	struct super_block *sb = fc->root->d_sb;
	const struct wsfs_sb *opts = fc->s_fs_info;
	struct wsfs_sb *wsb = WSFS_SB(sb);
	int err;

	if (opts->opt_streams >= 0 &&
	    opts->opt_streams != ws_pool_nr(wsb->pool))
		return invalf(fc, "streams= cannot change while mounted");
	if (wsfs_shares_differ(opts, wsb))
		return invalf(fc, "hints and numbered cannot change while mounted");
	if (opts->opt_spread > WSFS_DIR_NEAR && !wsb->home)
		return invalf(fc, "spread cannot begin while mounted without streams; mount anew");
	if (opts->opt_spread > WSFS_DIR_NEAR && wsb->filestreams)
		return invalf(fc, "spread and XFS's filestreams exclude each other");
	err = wsfs_reconfigure_lower(fc, sb, opts);
	if (!err && opts->opt_spread >= 0)
		WRITE_ONCE(wsb->spread, opts->opt_spread);
	/* The VFS makes the superblock writable after this; the lower is now. */
	if (!err && sb_rdonly(sb) && !(fc->sb_flags & SB_RDONLY))
		wsfs_home_sweep(wsb);
	return err;
}

static void wsfs_free_fc(struct fs_context *fc)
{
	wsfs_sb_free(fc->s_fs_info);
}

static const struct fs_context_operations wsfs_context_ops = {
	.parse_param	= wsfs_parse_param,
	.get_tree	= wsfs_get_tree,
	.reconfigure	= wsfs_reconfigure,
	.free		= wsfs_free_fc,
};

static int wsfs_init_fs_context(struct fs_context *fc)
{
	struct wsfs_sb *wsb = kzalloc_obj(*wsb);

	if (!wsb)
		return -ENOMEM;
	wsb->opt_streams = -1;
	wsb->opt_spread = -1;
	wsb->opt_hints = -1;
	wsb->opt_numbered = -1;
	xa_init_flags(&wsb->dirs, XA_FLAGS_ACCOUNT);
	fc->s_fs_info = wsb;
	fc->ops = &wsfs_context_ops;
	return 0;
}

static void wsfs_kill_sb(struct super_block *sb)
{
	struct wsfs_sb *wsb = WSFS_SB(sb);

	if (wsb) {
		wsfs_sysfs_del(wsb);
		wsfs_fserror_del(wsb);
	}
	kill_anon_super(sb);
	spin_lock(&wsfs_kill_lock);
	sb->s_fs_info = NULL;
	spin_unlock(&wsfs_kill_lock);
	wsfs_sb_free(wsb);
}

struct file_system_type wsfs_fs_type = {
	.owner			= THIS_MODULE,
	.name			= "wsfs",
	.init_fs_context	= wsfs_init_fs_context,
	.parameters		= wsfs_parameters,
	.kill_sb		= wsfs_kill_sb,
	/* So that namei.c knows when our dcache has caught up. */
	.fs_flags		= FS_RENAME_DOES_D_MOVE | FS_ALLOW_IDMAP,
};
MODULE_ALIAS_FS("wsfs");

static int __init wsfs_init(void)
{
	int err = wsfs_inode_cache_init();

	if (err)
		return err;
	err = wsfs_aio_init();
	if (err)
		goto out_inode;
	err = wsfs_sysfs_init();
	if (err)
		goto out_aio;
	err = wsfs_fserror_init();
	if (err)
		goto out_sysfs;
	err = register_filesystem(&wsfs_fs_type);
	if (err)
		goto out_fserror;
	return 0;

out_fserror:
	wsfs_fserror_exit();
out_sysfs:
	wsfs_sysfs_exit();
out_aio:
	wsfs_aio_exit();
out_inode:
	wsfs_inode_cache_exit();
	return err;
}

static void __exit wsfs_exit(void)
{
	unregister_filesystem(&wsfs_fs_type);
	wsfs_fserror_exit();
	wsfs_sysfs_exit();
	wsfs_aio_exit();
	wsfs_inode_cache_exit();
}

module_init(wsfs_init);
module_exit(wsfs_exit);

MODULE_DESCRIPTION("Write streams for XFS, as a stacking filesystem");
MODULE_LICENSE("GPL");
