// SPDX-License-Identifier: Apache-2.0
/* lang.h - a language's interface to the rest of src/unwinders/: its row, lang_STEM, for each row of
 * bpf/languages.def. bpf/walk/lang.bpf.h has the kernel half's part.
 *
 * A file has a language if table() says so. A process has it if it has mapped such a file and attach() can
 * read it. Frames get their names from the kernel half's records (record()), or, in a language of kind
 * LANG_NATIVE, from the file. All data of files, processes and records is untrusted. Functions that a
 * language does not need are NULL. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/walk/unwind.h"

struct cache_key;
struct eh_rows;
struct elf;
struct frame_name;
struct mapping;
struct table_header;
struct thread_note;

/* A file that has the language. */
struct lang_file {
	struct elf *elf;
	const char *path;
	void *opened;       /* result of open(); NULL: not called, or failed */
	/* For open(): where it may keep slow results. dir: the cache's, or -1. NULL: unknown. */
	int dir;
	const struct cache_key *key;
	/* For attach(): reads all of size bytes at addr in the process. Returns 0 on success, -errno on failure. NULL:
	 * there is no process. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	void *arg;
};

/* A process that has the language, and is alive or in a core. */
struct lang_process {
	const void *proc;   /* struct STEM_proc */
	const void *opened; /* result of open() for its file with the language */
	/* Reads all of size bytes at addr. Returns 0 on success, -errno on failure. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	void *arg;
};

/* Keeps names until the end. */
struct name_store {
	const char *(*keep)(struct name_store *s, const char *text);
	/* Returns a new, empty name, for the caller into which a function was inlined. */
	struct frame_name *(*more)(struct name_store *s);
};

/* Files in the root of a process, or relative to its current directory, for source maps and sources. */
struct sourcemap_files {
	int (*open)(void *arg, int pid, const char *path); /* returns an fd or -errno */
	void *arg;
};

struct lang {
	const char *name;       /* its stem: for -v, and for the tables' directory */
	uint32_t version;       /* goes up when table(), rules() or open() change: cached tables and notes are then
	                         * made again */
	size_t proc_size;       /* size of struct STEM_proc; 0: the kernel half has none */
	size_t generation_at;   /* offset in struct STEM_proc of a u32 that differs for two processes with the same
	                         * pid: see LANG_BY_KERNEL; 0: none */

	const char *program;    /* the usual names of its interpreters begin so, without a directory; NULL: none */

	/* ---- a file: return 0 or -errno ---- */

	/* Called while the file's table is made, when its base is set: sets the language's members of the
	 * header. Returns -ENOENT if the file does not have the language. */
	int (*table)(struct elf *e, struct table_header *hdr);
	/* Replaces .eh_frame's rules for the language's own code. */
	int (*rules)(struct elf *e, struct eh_rows *rows);
	/* Reads other data of a file; close() frees it. For LANG_NATIVE it is called at the first request for
	 * a name, and the file may be closed in between; for others when the file is first seen. */
	int (*open)(const struct lang_file *f, void **ret);
	void (*close)(void *opened);

	/* ---- a process ---- */

	/* The process has mapped f at m (NULL: use the file's own addresses). proc: struct STEM_proc, zero at
	 * the first call. Returns 0, or -errno if the language's data there cannot be read. For LANG_FRAME it is called
	 * again for some seconds: a library fills its data after it was mapped. */
	int (*attach)(const struct lang_file *f, const struct mapping *m, bool is_first, void *proc);
	/* Called for a mapped C library. Returns false if the file is not a C library or does not help. */
	bool (*libc)(struct elf *libc, void *proc);
	/* Returns whether an executable mapping with that name ("": no name), which is not an ELF file, may be the
	 * language's compiled code. */
	bool (*compiles)(const char *path);

	/* ---- names ---- */

	void *(*names_new)(void);
	void (*names_free)(void *names);
	/* Takes a RECORD_LANG of size bytes; p NULL: the process has ended. Returns true if it
	 * had to read the process. */
	bool (*record)(void *names, const struct lang_record *r, size_t size, const struct lang_process *p);
	/* Returns false for an unknown frame. Strings live as long as names. */
	bool (*name_frame)(const void *names, uint64_t frame, struct frame_name *ret);
	/* LANG_NATIVE: names ret->vaddr in a file, and the functions inlined there. */
	bool (*name_code)(const void *opened, struct name_store *s, struct frame_name *ret);
	/* Fills in notes of the process's threads (unwinders.h). p->opened is NULL. */
	void (*threads)(const struct lang_process *p, struct thread_note *notes, size_t n);
	bool threads_need_tp;
	/* The language may read files of processes. files is copied. */
	void (*use_files)(void *names, const struct sourcemap_files *files);
	/* Names and lines become those before compilation, if a source map has them. files is copied. */
	void (*use_source_maps)(void *names, const struct sourcemap_files *files);
};

#define L(id, stem, builtin, kind, name) extern const struct lang lang_##stem;
#include "bpf/languages.def"
#undef L

/* By enum frame_lang; [FRAME_LANG_NATIVE] is NULL. */
extern const struct lang *const langs[FRAME_LANGS];

/* Reads a file's data of size bytes, a multiple of 8, for open(): from the cache, or else by find(), which returns 0
 * or -errno; the cache then keeps them for later runs. Returns 0 on success, -errno on failure. */
int lang_note(const struct lang_file *f, const struct lang *l, int (*find)(struct elf *e, void *ret), void *ret,
	size_t size);

/* Returns a struct STEM_proc with the file's own addresses like lang_note(), in *ret, to be free()d. */
int lang_open_proc(const struct lang_file *f, const struct lang *l, int (*find)(struct elf *e, void *ret), void **ret);

static inline enum lang_kind lang_kind(unsigned lang)
{
	return LANGS_LIST >> lang & 1 ? LANG_LIST : LANGS_NATIVE >> lang & 1 ? LANG_NATIVE : LANG_FRAME;
}
