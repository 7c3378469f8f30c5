// SPDX-License-Identifier: Apache-2.0
/* target.h - the machine as a directory tree: `/`, or a recorded tree in tests. This code does not run
 * programs and does not need BPF. Strings live in the target. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target;

struct target *target_open(const char *root); /* root is "/" or a recorded tree */
void target_close(struct target *t);
const char *target_root(const struct target *t);
/* Returns root + path, valid until target_close(). */
const char *target_path(struct target *t, const char *path);

/* ---- programs and libraries (paths.c) ---- */
/* Returns the files that a name in an attach point may mean; the list ends with NULL. The name is a path
 * (may hold '*'), a name found through PATH (only ELF files: a version manager's script is skipped, and
 * *ret_skipped, if given, is its path), or libNAME found through ld.so.cache and the default directories
 * ("libc", "libc.so.6", "libpython3.11"); any other name is a file of the current directory. A name may
 * hold '*', too. */
const char *const *target_find_binary(struct target *t, const char *name,
	const char **ret_skipped);
/* Returns the path of NAME found through PATH, scripts included, or NULL if there is none. */
const char *target_which(struct target *t, const char *name);
bool target_is_elf(struct target *t, const char *path);
/* Returns the file and the libraries that it will load, as ld.so would find them, including its
 * interpreter. The list ends with NULL. */
const char *const *target_closure(struct target *t, const char *path);

/* ---- tracefs (tracefs.c) ---- */
/* Returns the directory of tracefs, which is mounted first if it is not and strata may do so. Returns NULL
 * if there is none. */
const char *target_tracefs(struct target *t);
/* Returns whether tracefs exists but is not readable for strata. */
bool target_tracefs_is_closed(struct target *t);
struct trace_field {
	const char *type; /* "const char *", "__data_loc char[]", "unsigned long" */
	const char *name;
	uint32_t offset, size;
	uint32_t elements; /* elements of an array, else 0 */
	bool is_signed;
};
struct trace_event {
	const char *category, *name;
	uint64_t id;
	const struct trace_field *fields; /* without the fields named common_* */
	size_t nfields;
};
/* Returns the names "category:event" that match both patterns ('*'), sorted; the list ends with NULL. */
const char *const *target_events(struct target *t, const char *category, const char *name);
/* Returns 0 on success, -errno on failure. */
int target_event(struct target *t, const char *category, const char *name,
	struct trace_event *ret);

/* ---- kernel symbols (ksyms.c) ---- */
/* Finds name and offset of a kernel address; module is "" for the kernel itself. Returns false if kallsyms
 * is hidden or has no such symbol. */
bool target_ksym(struct target *t, uint64_t addr, const char **ret_name, uint64_t *ret_offset,
	const char **ret_module);

/* Finds the address of a code or data symbol, first in the kernel itself; for a per-CPU variable, its
 * offset in each CPU's area. Returns false if kallsyms is hidden or has no such symbol. */
bool target_kernel_address(struct target *t, const char *name, uint64_t *ret);

/* ---- cgroups (cgroup.c) ---- */
/* Reads the id of a cgroup, which is the inode number of its directory (Linux 5.5 on, with 64 bits).
 * Returns 0 on success, -ENOTTY if the directory is not a cgroup, another -errno on other failures. */
int target_cgroup_id(struct target *t, const char *path, uint64_t *ret);
/* Appends "HIERARCHY:PATH" of the cgroups with that id, separated by ',', for hierarchies whose names
 * match. Version 2 is named "unified", the others are named by their controllers ("cpu,cpuacct"). */
struct str;
void target_cgroup_path(struct target *t, uint64_t id, const char *hierarchies, struct str *out);
/* Returns the bytes of memory that strata's control group and the groups above it may use; UINT64_MAX if
 * there is no limit. */
uint64_t target_memory_limit(struct target *t);
/* Returns the runtime's name of the container of a cgroup (v2), after the name of its pod; or the
 * beginnings of their ids; or "" if it is not a container. The target owns and remembers the name. */
const char *target_container(struct target *t, uint64_t cgroup);
/* Remembers the container of a cgroup whose path is known: see target_each_cgroup(). */
void target_container_note(struct target *t, uint64_t cgroup, const char *path);
/* Returns 1 if the cgroup is of a container with that name (`*` is any text), "pod/name", or beginning of the ID, of at
 * least 12 digits; 0 if it is not; -ENOENT if the cgroup has gone. */
int target_container_is(struct target *t, uint64_t cgroup, const char *name);
/* Calls f for each cgroup (v2). path: as in target_cgroup_path(), "unified:/.." */
void target_each_cgroup(struct target *t, void (*f)(void *arg, uint64_t id, const char *path), void *arg);
/* Finds a cgroup (v2) by the path of its directory, or by its path below the root of the cgroups. *ret_level is the
 * number of cgroups above it, or -1 if that is not known, in a cgroup namespace. Returns 0 on success, -ENOTTY if the
 * directory is not a cgroup, another -errno on other failures. */
int target_cgroup_find(struct target *t, const char *path, uint64_t *ret_id, int *ret_level);

/* ---- kernel functions (kfuncs.c) ---- */
/* Returns the names that match a pattern, sorted, without duplicates; the list ends with NULL. module is
 * "vmlinux" for the kernel without modules, "" for everything. traceable: only functions in ftrace's list,
 * if there is one. */
/* Returns the names of all functions in kallsyms; the list ends with NULL and is made once. */
const char *const *target_all_functions(struct target *t);
/* Returns whether a module with this name, or matching this pattern, is loaded. The kernel itself is
 * vmlinux. */
bool target_has_module(struct target *t, const char *module);
const char *const *target_kernel_functions(struct target *t, const char *module,
	const char *pattern, bool traceable);
/* Replaces ftrace's list by a file with one name per line. Returns 0 on success, -errno on failure. */
int target_set_traceable(struct target *t, const char *path);

/* ---- kernel types (btf.c) ---- */
/* Returns the byte offset of a member ("thread.fsbase") in a kernel struct ("task_struct"), from BTF, or
 * -ENOENT. The cache directory keeps results under the kernel's build id, so that later starts need not
 * read BTF. */
int target_btf_offset(struct target *t, const char *strct, const char *member);
/* Returns the names of raw tracepoints that match a pattern. They are the btf_trace_* typedefs in the BTF
 * of a module, or of "vmlinux". */
const char *const *target_raw_tracepoints(struct target *t, const char *module, const char *pattern);
bool target_has_btf(struct target *t);
/* Returns the kernel's modules with BTF that match a pattern, including "vmlinux". */
const char *const *target_btf_modules(struct target *t, const char *pattern);
/* Returns the names of functions that match a pattern, in the BTF of a module or of "vmlinux". */
const char *const *target_btf_functions(struct target *t, const char *module,
	const char *pattern);
/* Returns the function's type id in the BTF of a module or of "vmlinux"; 0 if it has none. */
uint32_t target_btf_function(struct target *t, const char *module, const char *name);
/* Returns libbpf's BTF of a module or of "vmlinux", or NULL if there is none. It is parsed once and freed
 * by target_close(). */
struct btf;
struct btf *target_btf(struct target *t, const char *module);

/* ---- processes (proc.c) ---- */
struct proc_map {
	uint64_t start, end, offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool exec, write, read;
	const char *path; /* "" for anonymous memory, "[vdso]", "/usr/bin/x (deleted)" */
};
/* Reads /proc/PID/maps. The array and its strings are one block: free(*ret). Returns the number of
 * mappings, or -errno (-ESRCH if the process has ended). */
ssize_t proc_maps(struct target *t, int pid, struct proc_map **ret);
/* Opens the file of a mapping through map_files, then /proc/PID/root, so that containers, deleted and
 * replaced files work. Returns an fd or -errno. */
int proc_open_mapping(struct target *t, int pid, const struct proc_map *m);
/* Returns whether the process has another root directory than the target, as in a container. */
bool proc_has_other_root(struct target *t, int pid);
/* Opens a regular file in the root of the process, or in our root if the process has ended. A relative path begins at
 * the current directory of the process. Returns an fd or -errno. */
int proc_open_file(struct target *t, int pid, const char *path);
/* Returns a path by which strata can open that file of the process's root while the process runs, or NULL
 * if there is no such file. */
const char *proc_path_in_root(struct target *t, int pid, const char *path);
/* Does the same for a file NAME or NAME.* that the process has mapped as code. */
const char *proc_find_mapped(struct target *t, int pid, const char *name);
/* Returns the files that a process (0 for any process) has mapped as code, without duplicates, by paths
 * that strata can open while the process runs. The list ends with NULL. */
const char *const *proc_objects(struct target *t, int pid);
/* Reads the thread ids: free(*ret). Returns their number or -errno. */
ssize_t proc_threads(struct target *t, int pid, int **ret);
/* Returns "/usr/bin/python3.11", which the caller frees. Returns NULL and sets errno on failure: ENOENT if the process
 * has ended, or is a thread of the kernel. */
char *proc_exe(struct target *t, int pid);
/* Reads the beginning of /proc/PID/NAME and adds a NUL. The caller frees it. Returns NULL if it cannot be
 * read. */
char *proc_read(struct target *t, int pid, const char *name, size_t *ret_size);
/* Reads /proc/PID/environ, of at most 256 KiB: variables that end with a NUL. free() it. Returns NULL on failure. */
char *proc_environment(struct target *t, int pid, size_t *ret_size);
char *proc_comm(struct target *t, int pid);
bool proc_alive(struct target *t, int pid);
/* Returns "R", "S", "D".. as in proc(5); 0 if the thread has ended. */
char proc_thread_state(struct target *t, int pid, int tid);
/* Finds the stack pointer of a thread that is blocked in a system call. Returns false if it runs or has
 * ended. */
bool proc_thread_sp(struct target *t, int pid, int tid, uint64_t *ret);
bool proc_running(struct target *t, int pid); /* whether one of its threads is runnable */
/* Reads the ids of all other processes: free(*ret). Returns their number. */
size_t proc_list(struct target *t, int **ret);
/* Returns the parent's ID, or 0 if it is not known. */
int proc_parent(struct target *t, int pid);
/* Returns the processes and, if descendants is true, all their descendants. *ret: to be free()d. */
size_t proc_family(struct target *t, const int *pids, size_t n, bool descendants, int **ret);

/* ---- PID namespace (pidns.c) ---- */
struct pid_ns {
	uint64_t dev, inode; /* 0 for the first namespace, whose ids the kernel itself uses */
	bool foreign_proc;   /* /proc shows the processes of another namespace */
	bool no_proc;        /* /proc is not mounted */
};
const struct pid_ns *target_pid_ns(struct target *t);

/* ---- cache directory (cache.c) ---- */
/* Returns an fd of the directory, which is created with mode 0700 if needed, or -errno if it cannot be
 * created or others can write to it. Then nothing is cached. */
int target_cache_dir(struct target *t);

/* ---- features of the kernel (features.c) ---- */
enum feature {
#define F(id, name, help) FEATURE_##id,
#include "features.def"
#undef F
	FEATURE_MAX
};
bool target_feature(struct target *t, enum feature f);
/* Returns 6 << 16 | 6 << 8 for Linux 6.6; 0 if unknown. */
unsigned target_kernel_version(struct target *t);
/* Returns the number of bits of a userspace address. arm64 puts a pointer's signature above them. */
unsigned target_address_bits(void);
const char *feature_name(enum feature f);
const char *feature_help(enum feature f);
/* For --no-feature NAME: target_feature() returns false from then on. Returns false if there is no such
 * feature. */
bool target_disable(struct target *t, const char *name);
