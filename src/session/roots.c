// SPDX-License-Identifier: Apache-2.0
/* roots.c - see roots.h. */
#include "roots.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/why.h"
#include "session/session_priv.h"
#include "target/target.h"
#include "unwinders/unwinders.h"

int roots_watch(struct session *s)
{
	const struct roots *roots = &s->opt.roots;

	for (size_t i = 0; i < roots->n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, roots->pids[i], 0), r = fd < 0 ? -errno : 0;

		if (fd >= 0) {
			vec_push(&s->root_fds, fd);
			r = session_watch(s, fd, FROM_PROCESS);
		}
		if (r) {
			log_error("cannot watch process %d: %s", roots->pids[i], why_errno(r));
			return r;
		}
	}
	return 0;
}

/* An ended process is not waited for again: its descriptor would always be ready. */
bool roots_ended(const struct session *s)
{
	size_t ended = 0;

	for (size_t i = 0; i < s->root_fds.len; i++) {
		struct pollfd p = {.fd = s->root_fds.data[i], .events = POLLIN};

		if (poll(&p, 1, 0) != 1)
			continue;
		ended++;
		session_unwatch(s, p.fd);
	}
	return ended == s->root_fds.len;
}

/* Returns the processes and, if wanted, their descendants. *ret: to be free()d. */
static size_t list(const struct session *s, int **ret)
{
	return proc_family(s->target, s->opt.roots.pids, s->opt.roots.n, s->opt.roots.children, ret);
}

int roots_name(const struct session *s, int tree)
{
	_cleanup_(freep) int *pids = NULL;
	size_t n = list(s, &pids);

	for (size_t i = 0; i < n; i++) {
		uint32_t one = 1, pid = (uint32_t)pids[i];

		if (bpf_map_update_elem(tree, &pid, &one, BPF_ANY)) {
			int r = -errno;

			log_error("cannot name the processes to the kernel: %s", why_errno(r));
			return r;
		}
	}
	return 0;
}

void roots_read(struct session *s)
{
	_cleanup_(freep) int *pids = NULL;
	size_t n = list(s, &pids);

	for (size_t i = 0; i < n; i++)
		unwinders_add_process(s->unwinders, pids[i]);
}
