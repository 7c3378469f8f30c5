// SPDX-License-Identifier: Apache-2.0
/* pidns.c - the PID namespace of strata: a container's, or the first one. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/priv.h"

/* The inode of the namespace that the kernel makes at boot (PROC_PID_INIT_INO of Linux'
 * include/linux/proc_ns.h, since 3.8). */
#define FIRST_INODE 0xEFFFFFFC

/* Returns whether /proc was mounted in another namespace. Then strata's id in it is not getpid(). */
static bool proc_is_foreign(void)
{
	char self[32];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = '\0';
	return atoi(self) != getpid();
}

const struct pid_ns *target_pid_ns(struct target *t)
{
	struct stat st;

	if (t->pid_ns_asked || !target_is_live(t))
		return &t->pid_ns;
	t->pid_ns_asked = true;
	if (stat("/proc/self/ns/pid", &st)) {
		t->pid_ns.no_proc = true;
	} else if (st.st_ino != FIRST_INODE) {
		t->pid_ns.dev = st.st_dev;
		t->pid_ns.inode = st.st_ino;
		t->pid_ns.foreign_proc = proc_is_foreign();
	}
	return &t->pid_ns;
}
