// SPDX-License-Identifier: Apache-2.0
/* target.h - the machine as a directory tree: `/`, or a recorded one in tests. Nothing here runs a
 * program or needs BPF. Strings live in the target. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target;

struct target *target_open(const char *root); /* "/" */
void target_close(struct target *t);
const char *target_root(const struct target *t);
/* root + path, valid until target_close(). */
const char *target_path(struct target *t, const char *path);

/* ---- programs and libraries (paths.c) ---- */
/* The files a name in an attach point may mean, NULL-terminated: a path (may hold
 * '*'), a name found through PATH (only ELF files: a version manager's script is
 * passed over, and *ret_skipped, when given, says which), or libNAME found through
 * ld.so.cache and the default directories ("libc", "libc.so.6", "libpython3.11"); what is none
 * of these is a file of the current directory. A name may hold '*', too. */
const char *const *target_find_binary(struct target *t, const char *name,
	const char **ret_skipped);
/* The path of NAME by PATH, scripts included; NULL when not found. */
const char *target_which(struct target *t, const char *name);
bool target_is_elf(struct target *t, const char *path);
/* The file and the libraries it will load, as ld.so would find them (its own
 * interpreter too), NULL-terminated. */
const char *const *target_closure(struct target *t, const char *path);

/* ---- tracefs (tracefs.c) ---- */
/* Mounts tracefs when it is nowhere mounted and we may; its directory or NULL. */
const char *target_tracefs(struct target *t);
/* Is there one that we may not read? */
bool target_tracefs_is_closed(struct target *t);
struct trace_field {
	const char *type; /* "const char *", "__data_loc char[]", "unsigned long" */
	const char *name;
	uint32_t offset, size;
	uint32_t elements; /* of an array, else 0 */
	bool is_signed;
};
struct trace_event {
	const char *category, *name;
	uint64_t id;
	const struct trace_field *fields; /* without the common_ ones */
	size_t nfields;
};
/* Names "category:event" matching both patterns ('*'), sorted, NULL-terminated. */
const char *const *target_events(struct target *t, const char *category, const char *name);
/* 0 or -errno. */
int target_event(struct target *t, const char *category, const char *name,
	struct trace_event *ret);

/* ---- kernel symbols (ksyms.c) ---- */
/* Name and offset of a kernel address; module "" for the kernel's own. false when
 * kallsyms is hidden or has no such symbol. */
bool target_ksym(struct target *t, uint64_t addr, const char **ret_name, uint64_t *ret_offset,
	const char **ret_module);

/* The address of a symbol, of code or data, the kernel's own first; of a per-CPU variable its offset in
 * each CPU's area. false: likewise. */
bool target_kernel_address(struct target *t, const char *name, uint64_t *ret);

/* ---- cgroups (cgroup.c) ---- */
/* The id of a cgroup's directory: its inode's number (Linux 5.5 on, with 64 bits). 0 or -errno; -ENOTTY: it
 * is no cgroup. */
int target_cgroup_id(struct target *t, const char *path, uint64_t *ret);
/* Appends "HIERARCHY:PATH" of the cgroups with that id, separated by ',': hierarchies whose names match,
 * "unified" that of version 2, the others by their controllers ("cpu,cpuacct"). */
struct str;
void target_cgroup_path(struct target *t, uint64_t id, const char *hierarchies, struct str *out);
/* Bytes of memory that strata's control group may use, or one above it; UINT64_MAX: there is no limit. */
uint64_t target_memory_limit(struct target *t);
/* The name of the container that a cgroup (v2) is: as its runtime calls it, with the pod's before it, or the
 * beginnings of their ids; "": it is none. The target's, who remembers it. */
const char *target_container(struct target *t, uint64_t cgroup);

/* ---- kernel functions (kfuncs.c) ---- */
/* Names matching a pattern, sorted, each once, NULL-terminated; of a module ("vmlinux": the kernel
 * without modules), "": of all. traceable: only those that ftrace lists, if it does. */
/* The names of all functions that kallsyms has, NULL-terminated; made once. */
const char *const *target_all_functions(struct target *t);
/* Is a module of this name, or pattern, loaded? The kernel itself is vmlinux. */
bool target_has_module(struct target *t, const char *module);
const char *const *target_kernel_functions(struct target *t, const char *module,
	const char *pattern, bool traceable);
/* A file with the names that ftrace would list, a name a line. 0 or -errno. */
int target_set_traceable(struct target *t, const char *path);

/* ---- kernel types (btf.c) ---- */
/* Byte offset of a member ("thread.fsbase") in a kernel struct ("task_struct"),
 * from BTF; -ENOENT. Results are kept under the cache directory, by the kernel's
 * build id, so that later starts read no BTF. */
int target_btf_offset(struct target *t, const char *strct, const char *member);
/* Names of raw tracepoints matching a pattern, from the btf_trace_* typedefs in BTF of a module, or of
 * "vmlinux". */
const char *const *target_raw_tracepoints(struct target *t, const char *module, const char *pattern);
bool target_has_btf(struct target *t);
/* Modules of the kernel with BTF that match a pattern, "vmlinux" among them. */
const char *const *target_btf_modules(struct target *t, const char *pattern);
/* Names of functions in BTF matching a pattern; the module's, or those of "vmlinux". */
const char *const *target_btf_functions(struct target *t, const char *module,
	const char *pattern);
/* The function's type id in the module's BTF, or in that of "vmlinux"; 0: it has none. */
uint32_t target_btf_function(struct target *t, const char *module, const char *name);
/* libbpf's, of a module or of "vmlinux"; NULL: there is none. Parsed once, freed by target_close(). */
struct btf;
struct btf *target_btf(struct target *t, const char *module);

/* ---- processes (proc.c) ---- */
struct proc_map {
	uint64_t start, end, offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool exec, write, read;
	const char *path; /* "" anonymous, "[vdso]", "/usr/bin/x (deleted)" */
};
/* /proc/PID/maps; the array and its strings are one block: free(*ret). The count,
 * or -errno (-ESRCH: it is gone). */
ssize_t proc_maps(struct target *t, int pid, struct proc_map **ret);
/* The file of a mapping, opened so that containers, deleted and replaced files
 * work (map_files, then /proc/PID/root): an fd or -errno. */
int proc_open_mapping(struct target *t, int pid, const struct proc_map *m);
/* Thread ids; -errno. free(*ret). */
/* Has it another root directory than the target's, as in a container? */
bool proc_has_other_root(struct target *t, int pid);
/* Opens a regular file in its root, or in ours when the process has ended; an fd or -errno. */
int proc_open_file(struct target *t, int pid, const char *path);
/* A path by which that file of its root can be opened from here while it runs; NULL: there is no
 * such file. */
const char *proc_path_in_root(struct target *t, int pid, const char *path);
/* The same for a file NAME or NAME.* that the process has mapped as code. */
const char *proc_find_mapped(struct target *t, int pid, const char *name);
/* The files that a process (0: any) has mapped as code, each once, by paths that can be opened from here
 * while it runs, NULL-terminated. */
const char *const *proc_objects(struct target *t, int pid);
ssize_t proc_threads(struct target *t, int pid, int **ret);
/* "/usr/bin/python3.11", to be free()d; NULL when gone. */
char *proc_exe(struct target *t, int pid);
/* The beginning of /proc/PID/NAME, with a NUL behind; NULL: it cannot be read. The caller frees. */
char *proc_read(struct target *t, int pid, const char *name, size_t *ret_size);
char *proc_comm(struct target *t, int pid);
bool proc_alive(struct target *t, int pid);
/* "R", "S", "D".. as in proc(5); 0: the thread has ended. */
char proc_thread_state(struct target *t, int pid, int tid);
/* The stack pointer of a thread that is blocked in a system call; false: it runs, or has gone. */
bool proc_thread_sp(struct target *t, int pid, int tid, uint64_t *ret);
bool proc_running(struct target *t, int pid); /* is a thread of it runnable? */
/* The ids of all other processes; the count. free(*ret). */
size_t proc_list(struct target *t, int **ret);

/* ---- PID namespace (pidns.c) ---- */
struct pid_ns {
	uint64_t dev, inode; /* 0: it is the first namespace, whose ids the kernel uses itself */
	bool foreign_proc;   /* /proc shows the processes of another namespace */
	bool no_proc;        /* /proc is not mounted */
};
const struct pid_ns *target_pid_ns(struct target *t);

/* ---- cache directory (cache.c) ---- */
/* An fd of the directory, which is made with mode 0700 where there is none; -errno: there can be
 * none, or others can write to it. Then nothing is cached. */
int target_cache_dir(struct target *t);

/* ---- what the kernel can do (features.c) ---- */
enum feature {
#define F(id, name, help) FEATURE_##id,
#include "features.def"
#undef F
	FEATURE_MAX
};
bool target_feature(struct target *t, enum feature f);
/* 6 << 16 | 6 << 8; 0: unknown. */
unsigned target_kernel_version(struct target *t);
/* Bits of an address in userspace; arm64 signs pointers in those above. */
unsigned target_address_bits(void);
const char *feature_name(enum feature f);
const char *feature_help(enum feature f);
/* --no-feature NAME: target_feature() says no from then on; false: there is no such name. */
bool target_disable(struct target *t, const char *name);
