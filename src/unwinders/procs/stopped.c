// SPDX-License-Identifier: Apache-2.0
/* stopped.c - a process held still by ptrace, for walks on the host. */
#include "stopped.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/vec.h"
#include "target/target.h"

static int stop(int tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, &status, __WALL) < 0)
		return -errno;
	return WIFSTOPPED(status) ? 0 : -ESRCH;
}

/* A thread that runs or sleeps stops within some 20 us. */
int stopped_wait(int tid, uint64_t wait_ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + wait_ns;
	struct timespec pause = {.tv_nsec = 5000};
	int status, r;

	while (!(r = waitpid(tid, &status, __WALL | WNOHANG))) {
		if (clock_ns(CLOCK_MONOTONIC) >= end)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 1000000)
			pause.tv_nsec *= 2;
	}
	return r < 0 ? -errno : WIFSTOPPED(status) ? 0 : -ESRCH;
}

int stopped_hold(int tid, uint64_t wait_ns)
{
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return -errno;
	return stopped_wait(tid, wait_ns);
}

void stopped_release(int tid)
{
	ptrace(PTRACE_DETACH, tid, 0, 0);
}

int stopped_open(int pid, struct stopped *ret)
{
	VEC(int) tids = {};
	char path[64];
	struct dirent *e;
	DIR *d;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return -ESRCH;
	while ((e = readdir(d))) {
		int tid = atoi(e->d_name), one = tid > 0 ? stop(tid) : -ESRCH;

		if (!one)
			vec_push(&tids, tid);
		else if (tid == pid)
			err = one;
	}
	closedir(d);
	*ret = (struct stopped){ tids.data, tids.len };
	if (err)
		stopped_close(ret);
	return err;
}

void stopped_close(struct stopped *s)
{
	for (size_t i = 0; i < s->n; i++)
		ptrace(PTRACE_DETACH, s->tids[i], 0, 0);
	free(s->tids);
	*s = (struct stopped){};
}

#ifdef __x86_64__
int stopped_regs(int tid, struct host_regs *ret)
{
	struct user_regs_struct r;
	struct iovec io = { &r, sizeof(r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io))
		return -errno;
	*ret = (struct host_regs){
		.pc = r.rip, .sp = r.rsp, .fp = r.rbp, .tp = r.fs_base,
		.has_other = 1, .tid = (uint32_t)tid, .machine = EM_X86_64,
		.other = {
			[RULE_REG_RAX] = r.rax, [RULE_REG_RDX] = r.rdx, [RULE_REG_RCX] = r.rcx,
			[RULE_REG_RBX] = r.rbx, [RULE_REG_RSI] = r.rsi, [RULE_REG_RDI] = r.rdi,
			[RULE_REG_R8] = r.r8, [RULE_REG_R9] = r.r9, [RULE_REG_R10] = r.r10,
			[RULE_REG_R11] = r.r11, [RULE_REG_R12] = r.r12, [RULE_REG_R13] = r.r13,
			[RULE_REG_R14] = r.r14, [RULE_REG_R15] = r.r15,
		},
	};
	return 0;
}
#else
int stopped_regs(int tid, struct host_regs *ret)
{
	struct user_regs_struct r;
	uint64_t tp = 0;
	struct iovec io = { &r, sizeof(r) }, tls = { &tp, sizeof(tp) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) ||
		ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &tls))
		return -errno;
	*ret = (struct host_regs){
		.pc = r.pc, .sp = r.sp, .fp = r.regs[29], .lr = r.regs[30], .tp = tp,
		.has_other = 1, .tid = (uint32_t)tid, .machine = EM_AARCH64, .address_bits = target_address_bits(),
		.other = {
			[RULE_REG_X0] = r.regs[0], [RULE_REG_X1] = r.regs[1],
			[RULE_REG_X12] = r.regs[12], [RULE_REG_R13] = r.regs[13],
			[RULE_REG_X19] = r.regs[19], [RULE_REG_X20] = r.regs[20],
			[RULE_REG_X22] = r.regs[22], [RULE_REG_X28] = r.regs[28],
		},
	};
	return 0;
}
#endif
