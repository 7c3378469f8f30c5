// SPDX-License-Identifier: Apache-2.0
/* lang.h - what a language's unwinder gives to the rest of src/unwinders/: its row, lang_STEM, for
 * each row of bpf/languages.def. The kernel half's part of it is in bpf/walk/lang.bpf.h.
 *
 * A file has a language where table() says so. A process has it where it has mapped such a file and
 * attach() knows how to read it. Frames are named by what the kernel half sent of them (record()),
 * or, of a language of kind LANG_NATIVE, by what its file says. All that is read of files,
 * processes and records is untrusted. Functions that a language has no use for are NULL. */
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

/* A file that has the language. */
struct lang_file {
	struct elf *elf;
	const char *path;
	void *opened;       /* by open(); NULL: it was not, or failed */
	/* For open(): where it may keep what takes long to find. dir: the cache's, or -1. NULL: not
	 * known. */
	int dir;
	const struct cache_key *key;
};

/* A process that has the language, and lives, or is recorded in a core. */
struct lang_process {
	const void *proc;   /* struct STEM_proc */
	const void *opened; /* of its file with the language */
	/* Memory: all of size bytes at addr: 0; else -errno. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	void *arg;
};

/* Where names are kept for good. */
struct name_store {
	const char *(*keep)(struct name_store *s, const char *text);
	/* A further name, empty: of the caller that a function was inlined into. */
	struct frame_name *(*more)(struct name_store *s);
};

/* Files in the root of a process, for source maps. */
struct sourcemap_files {
	int (*open)(void *arg, int pid, const char *path); /* fd or -errno */
	void *arg;
};

struct lang {
	const char *name;       /* its stem: for -v, and the directory of tables */
	uint32_t version;       /* goes up when table(), rules() or open() change: cached tables and
	                         * notes are made anew */
	size_t proc_size;       /* of struct STEM_proc; 0: the kernel half has none */
	size_t generation_at;   /* of a u32 in that, which is not the same for two processes of one pid:
	                         * see LANG_BY_KERNEL; 0: there is none */

	/* ---- a file: 0 or -errno ---- */

	/* While its table is made, whose base is set: sets what is the language's in the header. -ENOENT:
	 * the file has not the language. */
	int (*table)(struct elf *e, struct table_header *hdr);
	/* The rules of its own code, in place of what .eh_frame says. */
	int (*rules)(struct elf *e, struct eh_rows *rows);
	/* What else there is to know of a file, to be closed. Of LANG_NATIVE when a name is first asked
	 * for, and the file may be closed in between; else when the file is first seen. */
	int (*open)(const struct lang_file *f, void **ret);
	void (*close)(void *opened);

	/* ---- a process ---- */

	/* It has mapped f at m (NULL: fill in the file's own addresses). proc: struct STEM_proc, zero at
	 * the first call. 0, or -errno: nothing can be read of the language there. */
	int (*attach)(const struct lang_file *f, const struct mapping *m, bool is_first, void *proc);
	/* The C library that it has mapped; false: it is none, or says nothing that is of use. */
	bool (*libc)(struct elf *libc, void *proc);
	/* Whether what is mapped executable under that name ("": no name), and is no ELF file, may be
	 * what the language compiled. */
	bool (*compiles)(const char *path);

	/* ---- names ---- */

	void *(*names_new)(void);
	void (*names_free)(void *names);
	/* A RECORD_LANG of size bytes; p NULL: the process has gone. True: it had to read the process. */
	bool (*record)(void *names, const struct lang_record *r, size_t size, const struct lang_process *p);
	/* False: unknown frame. Strings live as long as names. */
	bool (*name_frame)(const void *names, uint64_t frame, struct frame_name *ret);
	/* LANG_NATIVE: of ret->vaddr in a file, with what was inlined there. */
	bool (*name_code)(const void *opened, struct name_store *s, struct frame_name *ret);
	/* Names and lines as they were before a compiler, where a source map says so. files is copied. */
	void (*use_source_maps)(void *names, const struct sourcemap_files *files);
};

#define L(id, stem, builtin, kind, name) extern const struct lang lang_##stem;
#include "bpf/languages.def"
#undef L

/* By enum frame_lang; [FRAME_LANG_NATIVE] is NULL. */
extern const struct lang *const langs[FRAME_LANGS];

/* For open(): what find() says of the file (0 or -errno), of size bytes, a multiple of 8; kept in the cache for later
 * runs. */
int lang_note(const struct lang_file *f, const struct lang *l, int (*find)(struct elf *e, void *ret), void *ret,
	size_t size);

/* The same of a struct STEM_proc with the file's own addresses, which *ret is then; to be free()d. */
int lang_open_proc(const struct lang_file *f, const struct lang *l, int (*find)(struct elf *e, void *ret), void **ret);

static inline enum lang_kind lang_kind(unsigned lang)
{
	return LANGS_LIST >> lang & 1 ? LANG_LIST : LANGS_NATIVE >> lang & 1 ? LANG_NATIVE : LANG_FRAME;
}
