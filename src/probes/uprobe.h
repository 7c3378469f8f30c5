// SPDX-License-Identifier: Apache-2.0
/* uprobe.h - what the providers of places in files share: uprobe, uretprobe, usdt. */
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
/* The files that an attach point's second word means, by paths that can be opened from here; all: without
 * a name those are all that the traced process has mapped as code, or the traced command loads, else its
 * program alone. NULL: complained; none: see uprobe_no_file(). */
const char *const *uprobe_files(const struct request *req, const struct attach_point *ap, bool all);
bool uprobe_no_file(const struct request *req, const struct attach_point *ap);
/* Opens one of them, to be uprobe_close()d; false: complained. */
bool uprobe_open(const struct request *req, const struct attach_point *ap, const char *path, struct elf **ret);
/* It may stay open for the script's next attach point. */
void uprobe_close(const struct request *req, struct elf *e);
/* How the file is named in messages and in `probe`: a path as the script has it, a name by the file it was
 * found to mean. */
const char *uprobe_file_name(const struct attach_point *ap, const char *path);
/* A name that a file has, as it can be printed. */
const char *uprobe_safe(struct arena *a, const char *text);
/* The file that the kernel knows: the archive, of a member. */
const char *uprobe_attach_path(const struct request *req, const char *path);
/* The offset there of an address of the file's code; false: it is not code. */
bool uprobe_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret);
/* Likewise of data. */
bool uprobe_data_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret);

/* uprobe_cpp.c */
/* Whether the pattern means the function: by its symbol, or by its name in C++ with or without parameters and
 * result. demangled may be NULL: it is a function of C. */
bool uprobe_is_cpp(struct arena *a, const char *pattern, const char *symbol, const char *demangled);

/* uprobe_insn.c */
/* Sets *ret to where the instruction that holds the address begins; go may be NULL. Returns false where that is not
 * known. */
bool uprobe_instruction(struct elf *e, struct pclntab *go, uint64_t vaddr, uint64_t *ret);

/* uprobe_ifunc.c */
/* The addresses that the resolver of an IFUNC chooses from; the array is the arena's. 0: they are not known. */
size_t uprobe_implementations(struct arena *a, const struct elf *e, const struct elf_symbol *s, const uint64_t **ret);

/* uprobe_attach.c */
/* Attaches to all places of the probe, which lie together by file. 0 or -errno, reported. */
int uprobe_attach_all(struct loaded_probe *p, bool ret);
