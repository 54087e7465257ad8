// SPDX-License-Identifier: GPL-2.0
/*
 * A module that does on load what the harness must notice, to test the harness.
 */
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *how = "";
module_param(how, charp, 0);
MODULE_PARM_DESC(how, "warn, oops, use-after-free, leak, sleep or deadlock");

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

static void use_after_free(void)
{
	char *bytes = kmalloc(64, GFP_KERNEL);

	if (!bytes)
		return;
	kfree(bytes);
	OPTIMIZER_HIDE_VAR(bytes);
	pr_info("byte %d\n", READ_ONCE(bytes[8]));
}

static void leak(void)
{
	int i;

	/* Several, since a stale copy of a pointer may hide one. */
	for (i = 0; i < 16; i++) {
		void *lost = kmalloc(200, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(lost);
	}
}

static void sleep_in_atomic(void)
{
	spin_lock(&spin);
	msleep(20);
	spin_unlock(&spin);
}

/* Taking two locks in either order: no deadlock now, but one is possible. */
static void deadlock(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static int __init misbehave_init(void)
{
	if (!strcmp(how, "warn"))
		WARN_ON(1);
	else if (!strcmp(how, "oops"))
		WRITE_ONCE(*(int *)8, 0);
	else if (!strcmp(how, "use-after-free"))
		use_after_free();
	else if (!strcmp(how, "leak"))
		leak();
	else if (!strcmp(how, "sleep"))
		sleep_in_atomic();
	else if (!strcmp(how, "deadlock"))
		deadlock();
	return 0;
}
module_init(misbehave_init);

static void __exit misbehave_exit(void)
{
}
module_exit(misbehave_exit);

MODULE_DESCRIPTION("Does what the test harness must notice");
MODULE_LICENSE("GPL");
