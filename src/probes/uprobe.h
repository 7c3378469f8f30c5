// SPDX-License-Identifier: Apache-2.0
/* uprobe.h - shared by the providers of places in files: uprobe, uretprobe, usdt. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct attach_point;
struct elf;
struct elf_symbol;
struct loaded_probe;
struct pclntab;
struct request;

/* enum bpf_attach_type of Linux 6.6; older headers lack it. */
enum { TRACE_UPROBE_MULTI = 48 };

/* uprobe_files.c */
/* Returns the files of an attach point's second word, by paths that can be opened from here. If there is no
 * word and all is set, these are all files that the traced process has mapped as code, or the traced command
 * loads; otherwise only its program. Returns NULL after a complaint. For an empty list call uprobe_no_file(). */
const char *const *uprobe_files(const struct request *req, const struct attach_point *ap, bool all);
bool uprobe_no_file(const struct request *req, const struct attach_point *ap);
/* Opens one of them, to be uprobe_close()d. Returns false if it has complained. */
bool uprobe_open(const struct request *req, const struct attach_point *ap, const char *path, struct elf **ret);
/* The file may remain open for the script's next attach point. */
void uprobe_close(const struct request *req, struct elf *e);
/* Returns the file's name for messages and `probe`: the script's path, or, for a name, the file that was found. */
const char *uprobe_file_name(const struct attach_point *ap, const char *path);
/* A file's name, made safe for printing. */
const char *uprobe_safe(struct arena *a, const char *text);
/* Returns the path for the kernel: for a member the archive's. */
const char *uprobe_attach_path(const struct request *req, const char *path);
/* Finds the offset in that file of an address of code. Returns false if the address is not code. */
bool uprobe_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret);
/* Finds the offset in that file of an address of data. Returns false if the address is not data. */
bool uprobe_data_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret);

/* uprobe_cpp.c */
/* Returns whether the pattern matches the function: by its symbol, or by its name in C++ with or without parameters
 * and result. demangled may be NULL: a function of C. */
bool uprobe_is_cpp(struct arena *a, const char *pattern, const char *symbol, const char *demangled);

/* uprobe_insn.c */
/* Sets *ret to the start of the instruction that contains the address; go may be NULL.
 * Returns false if it is unknown. */
bool uprobe_instruction(struct elf *e, struct pclntab *go, uint64_t vaddr, uint64_t *ret);

/* Returns the size of the endbr64 at the start of a function if the instruction after it is better to probe, else 0.
 * An event at an instruction that the kernel does not emulate (endbr64) costs a second trap, to step over it: four to
 * nine times as much as an event at a push. */
unsigned uprobe_skip(struct elf *e, uint64_t vaddr);

/* uprobe_ifunc.c */
/* Returns the addresses from which the resolver of an IFUNC chooses, in the arena, and their
 * number, or 0 if it is unknown. */
size_t uprobe_implementations(struct arena *a, const struct elf *e, const struct elf_symbol *s, const uint64_t **ret);

/* uprobe_attach.c */
/* Attaches to all places of the probe, which are sorted by file. Returns 0 on success, -errno on failure, which it
 * reports. */
int uprobe_attach_all(struct loaded_probe *p, bool ret);
