// SPDX-License-Identifier: Apache-2.0
/* core.h - a core file, from the kernel or gdb, of either machine: memory and threads for walks on the host.
 * It is as untrusted as the process was. */
#pragma once
#include "unwinders/host/walk.h"

struct core;
struct elf;
struct proc_map;

/* Takes the elf, of type ET_CORE. Returns 0 on success, -ENOEXEC if the core describes no thread,
 * -errno on other failures. */
int core_open(struct elf *e, struct core **ret);
void core_close(struct core *c);

/* Reads bytes that the core itself has; it often lacks those mapped from files. */
struct host_memory *core_memory(struct core *c);
size_t core_threads(const struct core *c);
/* Returns the threads' ids and registers; the first thread is the one that got the signal. */
int core_tid(const struct core *c, size_t i);
const struct host_regs *core_regs(const struct core *c, size_t i);
/* Returns all mappings of files (a core does not say which are executable), and the other executable mappings. */
size_t core_maps(const struct core *c, const struct proc_map **ret);
/* The process and its end. Texts come from the core: print them safely. */
struct core_facts {
	int pid;          /* 0: unknown */
	char name[17];    /* name of the main thread, or "" */
	char args[81];    /* the first 80 bytes of its arguments, or "" */
	int signal;       /* the first thread got this signal; 0: none, or unknown */
	int code;         /* siginfo_t.si_code: above 0 if the kernel sent the signal */
	int sender;       /* pid of a process that sent it; 0: unknown */
	uint64_t address; /* of a SIGSEGV or SIGBUS from the kernel */
	bool has_info;    /* code, sender and address are known */
};
const struct core_facts *core_facts(const struct core *c);
/* Returns the path of the program when it was mapped, or NULL if it is unknown. */
const char *core_exe(const struct core *c);
