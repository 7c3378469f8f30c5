// SPDX-License-Identifier: Apache-2.0
/* core.h - a core file, the kernel's or gdb's, of either machine: memory and threads for
 * walks on the host. It is untrusted, as the process was. */
#pragma once
#include "unwinders/host/walk.h"

struct core;
struct elf;
struct proc_map;

/* Takes the elf, of type ET_CORE. 0 or -errno: -ENOEXEC: no thread is described. */
int core_open(struct elf *e, struct core **ret);
void core_close(struct core *c);

/* Bytes that are in the core alone: what was mapped from files often is not. */
struct host_memory *core_memory(struct core *c);
size_t core_threads(const struct core *c);
/* Their ids, and registers; the first is the one that the signal was for. */
int core_tid(const struct core *c, size_t i);
const struct host_regs *core_regs(const struct core *c, size_t i);
/* What was mapped from files (all of it: a core does not say what is executable), and what else was executable. */
size_t core_maps(const struct core *c, const struct proc_map **ret);
/* The path of the program, as it was mapped; NULL: not known. */
const char *core_exe(const struct core *c);
