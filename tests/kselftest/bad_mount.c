// SPDX-License-Identifier: GPL-2.0
/* Mounts that are refused: options, sources, callers. */
#include <sched.h>
#include <stdio.h>

#include "wsfs_fixture.h"

/* An XFS, and no wsfs over it yet. */
FIXTURE(refused) {};

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, ws_xfs_up(NULL));
}

/* Whatever was refused, a proper mount works. */
static int works_now(void)
{
	int ret = ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS);

	if (ret)
		return ret;
	ret = ws_free_streams(WS_MNT);
	return ret == WS_STREAMS ? 0 : -ENOSPC;
}

FIXTURE_TEARDOWN(refused)
{
	EXPECT_EQ(0, works_now());
	EXPECT_EQ(0, ws_down());
}

static int set_param(int fs, const char *key, const char *value)
{
	return ws_errno(fsconfig(fs, value ? FSCONFIG_SET_STRING :
				 FSCONFIG_SET_FLAG, key, value, 0));
}

/*
 * Sets up a wsfs with @key (or nothing more, if NULL). Returns the first
 * error and what the filesystem context has to say about it.
 */
static int try_fsconfig(const char *source, const char *key, const char *value,
			char *log, size_t size)
{
	ssize_t len, used = 0;
	int fs, ret;

	fs = fsopen("wsfs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	ret = set_param(fs, "source", source);
	if (!ret && key)
		ret = set_param(fs, key, value);
	if (!ret)
		ret = ws_errno(fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL,
					0));
	do {
		len = read(fs, log + used, size - used - 1);
		used += len > 0 ? len : 0;
	} while (len > 0);
	log[used] = '\0';
	close(fs);
	return ret;
}

FIXTURE(option) {};

FIXTURE_VARIANT(option)
{
	const char *key;
	const char *value;
};

FIXTURE_VARIANT_ADD(option, negative) { "streams", "-1" };
FIXTURE_VARIANT_ADD(option, word) { "streams", "abc" };
FIXTURE_VARIANT_ADD(option, trailing) { "streams", "4x" };
FIXTURE_VARIANT_ADD(option, two_numbers) { "streams", "4 4" };
FIXTURE_VARIANT_ADD(option, fraction) { "streams", "1.5" };
FIXTURE_VARIANT_ADD(option, one_too_many) { "streams", "1025" };
FIXTURE_VARIANT_ADD(option, far_too_many) { "streams", "99999" };
FIXTURE_VARIANT_ADD(option, u32_overflow) { "streams", "4294967300" };
FIXTURE_VARIANT_ADD(option, u64_overflow) { "streams", "18446744073709551620" };
FIXTURE_VARIANT_ADD(option, empty) { "streams", "" };
FIXTURE_VARIANT_ADD(option, no_value) { "streams", NULL };
FIXTURE_VARIANT_ADD(option, unknown) { "colour", "green" };
FIXTURE_VARIANT_ADD(option, unknown_flag) { "colour", NULL };

FIXTURE_SETUP(option)
{
	ASSERT_EQ(0, ws_xfs_up(NULL));
}

FIXTURE_TEARDOWN(option)
{
	EXPECT_EQ(0, ws_entries(WS_XFS));
	EXPECT_EQ(0, works_now());
	EXPECT_EQ(0, ws_down());
}

TEST_F(option, einval)
{
	char options[64];

	snprintf(options, sizeof(options), "%s%s%s", variant->key,
		 variant->value ? "=" : "", variant->value ?: "");
	EXPECT_EQ(-EINVAL, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, options));
}

TEST_F(option, says_which)
{
	char log[1024];

	EXPECT_EQ(-EINVAL, try_fsconfig(WS_XFS, variant->key, variant->value,
					log, sizeof(log)));
	EXPECT_NE(NULL, strstr(log, variant->key)) {
		TH_LOG("the log says '%s'", log);
	}
}

TEST_F(refused, good_option_after_all)
{
	char log[1024];

	EXPECT_EQ(0, try_fsconfig(WS_XFS, "streams", "4", log, sizeof(log)));
	EXPECT_EQ(0, try_fsconfig(WS_XFS, "streams", "0", log, sizeof(log)));
	EXPECT_EQ(0, try_fsconfig(WS_XFS, "streams", "1024", log,
				  sizeof(log)));
	EXPECT_EQ(0, try_fsconfig(WS_XFS, NULL, NULL, log, sizeof(log)));
}

TEST_F(refused, enotdir_source)
{
	char log[1024];

	ASSERT_EQ(0, close(ws_create(WS_XFS "/file")));
	EXPECT_EQ(-ENOTDIR, try_fsconfig(WS_XFS "/file", NULL, NULL, log,
					 sizeof(log)));
	EXPECT_LT(0, strlen(log));
	EXPECT_EQ(-ENOTDIR, ws_mount(WS_XFS "/file", WS_MNT, "wsfs", 0,
				     WS_OPTIONS));
	EXPECT_EQ(-ENOTDIR, ws_mount("/dev/null", WS_MNT, "wsfs", 0,
				     WS_OPTIONS));
	EXPECT_EQ(1, ws_entries(WS_XFS));
}

TEST_F(refused, enoent_source)
{
	char log[1024];

	EXPECT_EQ(-ENOENT, ws_mount(WS_XFS "/none", WS_MNT, "wsfs", 0,
				    WS_OPTIONS));
	EXPECT_EQ(-ENOENT, try_fsconfig(WS_XFS "/none", NULL, NULL, log,
					sizeof(log)));
	EXPECT_LT(0, strlen(log));
	EXPECT_EQ(0, ws_entries(WS_XFS));
}

TEST_F(refused, no_source)
{
	int fs = fsopen("wsfs", FSOPEN_CLOEXEC);

	ASSERT_LE(0, fs);
	EXPECT_GT(0, fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	EXPECT_GT(0, ws_mount(NULL, WS_MNT, "wsfs", 0, WS_OPTIONS));
	EXPECT_GT(0, ws_mount("", WS_MNT, "wsfs", 0, WS_OPTIONS));
	close(fs);
}

TEST_F(refused, source_twice)
{
	int fs = fsopen("wsfs", FSOPEN_CLOEXEC);

	ASSERT_LE(0, fs);
	ASSERT_EQ(0, set_param(fs, "source", WS_XFS));
	EXPECT_GT(0, set_param(fs, "source", WS_TMP));
	close(fs);
}

/* A context that is closed before it became a mount leaves nothing. */
TEST_F(refused, context_given_up)
{
	int fs;

	for (int i = 0; i < 20; i++) {
		fs = fsopen("wsfs", FSOPEN_CLOEXEC);
		ASSERT_LE(0, fs);
		EXPECT_EQ(0, set_param(fs, "source", WS_XFS));
		EXPECT_EQ(0, set_param(fs, "streams", "8"));
		if (i % 2)
			EXPECT_EQ(0, fsconfig(fs, FSCONFIG_CMD_CREATE, NULL,
					      NULL, 0));
		close(fs);
	}
}

TEST_F(refused, source_in_the_hidden_directory)
{
	char log[1024];
	int ret;

	ASSERT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS));
	ASSERT_EQ(0, ws_make_home(WS_MNT));
	ASSERT_EQ(0, ws_umount(WS_MNT));
	ASSERT_TRUE(ws_lists(WS_XFS, ".wsfs"));

	ret = try_fsconfig(WS_XFS "/.wsfs", NULL, NULL, log, sizeof(log));
	EXPECT_TRUE(ret == -ENOENT || ret == -EINVAL || ret == -EPERM ||
		    ret == -EBUSY) {
		TH_LOG("%d", ret);
	}
	EXPECT_LT(0, strlen(log));
	ASSERT_EQ(0, mkdir(WS_XFS "/.wsfs/sub", 0700));
	ret = try_fsconfig(WS_XFS "/.wsfs/sub", NULL, NULL, log, sizeof(log));
	EXPECT_GT(0, ret);
	EXPECT_LT(0, strlen(log));
	ASSERT_EQ(0, rmdir(WS_XFS "/.wsfs/sub"));
}

/* It mounts read-only, or it says why not and mounts with -o ro. */
TEST_F(refused, read_only_lower)
{
	char log[1024];
	int ret;

	ASSERT_EQ(0, ws_mount(NULL, WS_XFS, NULL, MS_REMOUNT | MS_RDONLY,
			      NULL));
	ret = try_fsconfig(WS_XFS, NULL, NULL, log, sizeof(log));
	if (ret) {
		EXPECT_EQ(-EROFS, ret);
		EXPECT_NE(NULL, strstr(log, "read-only")) {
			TH_LOG("the log says '%s'", log);
		}
	}
	EXPECT_EQ(0, ws_mount(WS_XFS, WS_MNT, "wsfs", MS_RDONLY, WS_OPTIONS));
	EXPECT_EQ(-EROFS, ws_create(WS_MNT "/file"));
	EXPECT_EQ(0, ws_umount(WS_MNT));
	ASSERT_EQ(0, ws_mount(NULL, WS_XFS, NULL, MS_REMOUNT, NULL));
	EXPECT_EQ(0, ws_entries(WS_XFS));
}

static int mount_as_user(int unused_a, int unused_b)
{
	return ws_become(WS_USER) ?: ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS);
}

static int mount_in_userns(int unused_a, int unused_b)
{
	if (ws_in_userns() || unshare(CLONE_NEWNS))
		return -ECANCELED;
	return ws_mount(WS_XFS, WS_MNT, "wsfs", 0, WS_OPTIONS);
}

TEST_F(refused, eperm_unprivileged)
{
	EXPECT_EQ(-EPERM, ws_in_child(mount_as_user, 0, 0));
	EXPECT_EQ(-EPERM, ws_in_child(mount_in_userns, 0, 0));
	EXPECT_EQ(0, ws_entries(WS_XFS));
}

TEST_HARNESS_MAIN
