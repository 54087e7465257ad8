// SPDX-License-Identifier: GPL-2.0
/*
 * Swap files, and the rest of what is asked of a wsfs inode's own mapping.
 *
 * An open wsfs file has the lower file's mapping. swapon(2) is the one caller
 * that hands a file to the operations of its mapping, and the lower's must not
 * get to see a wsfs file; so a file opened for swapon keeps the wsfs inode's
 * mapping, whose operations are here.
 */

#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include "wsfs.h"

/**
 * wsfs_file_for_swap() - is a file opened by or for swapon(2) or swapoff(2)
 * @inode: the wsfs inode
 * @file: the file, in ->open
 *
 * swapon(2) alone opens with O_EXCL and without O_CREAT (mm/swapfile.c);
 * whoever else does loses sync_file_range(2) and cachestat(2). swapoff(2) finds
 * the file by its mapping, so later opens have to have the same.
 *
 * Return: true if @file has to keep the mapping of @inode.
 */
bool wsfs_file_for_swap(struct inode *inode, const struct file *file)
{
	return IS_SWAPFILE(inode) ||
	       (file->f_flags & (O_EXCL | O_CREAT)) == O_EXCL;
}

/* swapon(2) reads the header through the mapping. */
static int wsfs_read_folio(struct file *file, struct folio *folio)
{
	struct file *lower;
	loff_t pos = folio_pos(folio);
	ssize_t ret;
	void *addr;

	lower = file ? wsfs_file_lower(file, false, false) : ERR_PTR(-EIO);
	if (IS_ERR(lower)) {
		folio_unlock(folio);
		return PTR_ERR(lower);
	}
	/* The mapping takes no large folios. */
	addr = kmap_local_folio(folio, 0);
	ret = kernel_read(lower, addr, PAGE_SIZE, &pos);
	if (ret >= 0)
		memset(addr + ret, 0, PAGE_SIZE - ret);
	flush_dcache_folio(folio);
	kunmap_local(addr);
	folio_end_read(folio, ret >= 0);
	return ret < 0 ? ret : 0;
}

/* swapon(2) holds the i_rwsem of the wsfs inode. */
static int wsfs_swap_activate(struct swap_info_struct *sis, struct file *file,
			      sector_t *span)
{
	struct file *lower = wsfs_file_lower(file, true, false);
	const struct address_space_operations *ops;
	struct inode *lower_inode;
	int ret;

	if (IS_ERR(lower))
		return PTR_ERR(lower);
	lower_inode = file_inode(lower);
	ops = lower->f_mapping->a_ops;
	if (!ops->swap_activate)
		return -EINVAL;

	inode_lock(lower_inode);
	ret = -EBUSY;
	if (!IS_SWAPFILE(lower_inode))
		ret = ops->swap_activate(sis, lower, span);
	/* Nobody is to write to it or unlink it below either. */
	if (ret >= 0)
		inode_set_flags(lower_inode, S_SWAPFILE, S_SWAPFILE);
	inode_unlock(lower_inode);
	return ret;
}

static void wsfs_swap_deactivate(struct file *file)
{
	struct file *lower = wsfs_file_lower(file, true, false);
	struct inode *lower_inode;

	/* Pinned by wsfs_swap_activate(), so this cannot fail. */
	if (WARN_ON_ONCE(IS_ERR(lower)))
		return;
	lower_inode = file_inode(lower);
	if (lower->f_mapping->a_ops->swap_deactivate)
		lower->f_mapping->a_ops->swap_deactivate(lower);
	inode_set_flags(lower_inode, 0, S_SWAPFILE);
}

/* FIBMAP */
static sector_t wsfs_bmap(struct address_space *mapping, sector_t block)
{
	struct inode *lower = wsfs_lower_inode_get(mapping->host);

	if (bmap(lower, &block))
		block = 0;
	iput(lower);
	return block;
}

const struct address_space_operations wsfs_aops = {
	.read_folio		= wsfs_read_folio,
	.swap_activate		= wsfs_swap_activate,
	.swap_deactivate	= wsfs_swap_deactivate,
	.bmap			= wsfs_bmap,
};
