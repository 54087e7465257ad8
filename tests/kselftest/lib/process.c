// SPDX-License-Identifier: GPL-2.0
/* Processes, privileges and fd passing of the wsfs selftests. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/capability.h>

#include "wsfs_test.h"

struct caps {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int get_caps(struct caps *caps)
{
	memset(caps, 0, sizeof(*caps));
	caps->head.version = _LINUX_CAPABILITY_VERSION_3;
	return ws_errno(syscall(SYS_capget, &caps->head, caps->data));
}

static int set_caps(struct caps *caps)
{
	return ws_errno(syscall(SYS_capset, &caps->head, caps->data));
}

int ws_capability(int cap, bool on)
{
	struct caps caps;
	int ret;

	ret = get_caps(&caps);
	if (ret)
		return ret;
	if (on)
		caps.data[CAP_TO_INDEX(cap)].effective |= CAP_TO_MASK(cap);
	else
		caps.data[CAP_TO_INDEX(cap)].effective &= ~CAP_TO_MASK(cap);
	return set_caps(&caps);
}

int ws_become(uid_t uid)
{
	return ws_errno(seteuid(uid));
}

void ws_become_root(void)
{
	struct caps caps;

	if (seteuid(0))
		perror("# root again");
	if (get_caps(&caps))
		return;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		caps.data[i].effective = caps.data[i].permitted;
	set_caps(&caps);
}

/* Forks; the child runs @fn, tells its result, and then exits or stays. */
static int run_child(int (*fn)(int a, int b), int a, int b, bool stay,
		     pid_t *pid)
{
	int pipefd[2], ret;

	if (pipe2(pipefd, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	*pid = fork();
	if (*pid < 0)
		return -errno;
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ret = fn(a, b);
		if (write(pipefd[1], &ret, sizeof(ret)) != sizeof(ret))
			_exit(1);
		while (stay)
			pause();
		_exit(0);
	}
	close(pipefd[1]);
	if (read(pipefd[0], &ret, sizeof(ret)) != sizeof(ret))
		ret = -ECHILD;
	close(pipefd[0]);
	return ret;
}

int ws_in_child(int (*fn)(int a, int b), int a, int b)
{
	pid_t pid = -1;
	int ret = run_child(fn, a, b, false, &pid);

	if (pid > 0)
		waitpid(pid, NULL, 0);
	return ret;
}

pid_t ws_hold(int (*fn)(int a, int b), int a, int b)
{
	pid_t pid = -1;
	int ret = run_child(fn, a, b, true, &pid);

	if (ret >= 0)
		return pid;
	if (pid > 0)
		ws_kill(pid);
	return ret;
}

void ws_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int write_file(const char *path, const char *text)
{
	int fd = ws_open(path, O_WRONLY);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = write(fd, text, strlen(text));
	close(fd);
	return ws_errno(len);
}

int ws_in_userns(void)
{
	char map[64];

	snprintf(map, sizeof(map), "0 %d 1", geteuid());
	if (unshare(CLONE_NEWUSER))
		return -ECANCELED;
	/* a change of user made /proc/self root's */
	prctl(PR_SET_DUMPABLE, 1);
	if (write_file("/proc/self/setgroups", "deny") ||
	    write_file("/proc/self/uid_map", map))
		return -ECANCELED;
	return 0;
}

/* A message with room for one fd. */
struct fd_message {
	union {
		char		buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr	align;
	} control;
	char		byte;
	struct iovec	iov;
	struct msghdr	msg;
};

static void init_message(struct fd_message *m)
{
	memset(m, 0, sizeof(*m));
	m->iov.iov_base = &m->byte;
	m->iov.iov_len = 1;
	m->msg.msg_iov = &m->iov;
	m->msg.msg_iovlen = 1;
	m->msg.msg_control = m->control.buf;
	m->msg.msg_controllen = sizeof(m->control.buf);
}

int ws_send_fd(int sock, int payload)
{
	struct fd_message m;
	struct cmsghdr *cmsg;

	init_message(&m);
	cmsg = CMSG_FIRSTHDR(&m.msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &payload, sizeof(int));
	return ws_errno(sendmsg(sock, &m.msg, 0));
}

int ws_recv_fd(int sock)
{
	struct fd_message m;
	struct cmsghdr *cmsg;
	int payload;

	init_message(&m);
	if (recvmsg(sock, &m.msg, MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&m.msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -ENODATA;
	memcpy(&payload, CMSG_DATA(cmsg), sizeof(int));
	return payload;
}
