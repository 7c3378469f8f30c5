// SPDX-License-Identifier: Apache-2.0
/* image.h - a compiled script: all that the session knows of it. The session sees no tree, code
 * generation holds no file descriptor. Everything lives in the arena that it was made in. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/source.h"

struct place;
struct provider;
struct type;

/* Images of one session have numbers, from 0 on. What the kernel hands back names the image, too. */
#define IMAGES_MAX        (1u << 12)
#define IMAGE_RECORDS_MAX (1u << 20)

/* Whether what its parts refer to by number is there: what codegen guarantees. */
struct image;
bool image_is_whole(const struct image *img);

/* struct record's id: of the n-th record of the image. */
static inline uint32_t image_record_id(uint32_t image, uint32_t n)
{
	return image << 20 | n;
}

/* A TYPE_PLACE value: of the n-th place of the image, the first of its name (or function). */
static inline uint64_t image_place_id(uint32_t image, uint32_t n)
{
	return (uint64_t)image << 32 | n;
}

/* One BPF program: a body, and the places it is attached to. */
struct image_prog {
	const char *name;    /* of the ELF symbol */
	const char *section;
	const struct provider *provider;
	uint32_t first_place, nplaces; /* in image.places */
	bool sleeps;         /* it is loaded with BPF_F_SLEEPABLE */
	struct span span;    /* of the probe in the script */
};

struct image_place {
	const struct place *place;
	uint32_t name, func; /* indices of the image's first places with the same name, and function */
};

/* An attach cookie has a place's name in its low bits and the function above: at most 2^26 places. */
enum { IMAGE_COOKIE_FUNC = 26, IMAGE_PLACES_MAX = 1 << IMAGE_COOKIE_FUNC };
static inline uint64_t image_place_cookie(const struct image_place *p)
{
	return (uint64_t)p->func << IMAGE_COOKIE_FUNC | p->name;
}

/* The array of programs whose first is the walker of that program. */
#define IMAGE_WALKER "walker_%u"

/* How often each of the image's first programs has run: u64s, a page, mmapable. See provider.counts_runs. */
#define IMAGE_TICKS     "ticks"
#define IMAGE_TICKS_MAX 512

/* A scalar's value ends in a word that is not 0 once it was set. */
struct image_map {
	const char *name;     /* without the @ */
	const char *bpf_name; /* of the ELF's map */
	const struct type *key;   /* NULL: scalar */
	const char *key_text;     /* as the script first writes it, "comm, ustack"; NULL: not known */
	const struct type *value;
	const char *declared; /* the kind that `let @name = KIND(N)` says; NULL: config max_map_keys is its size */
	uint32_t key_size, value_size; /* bytes in the kernel, of each CPU's value */
	bool per_cpu;
	bool sized_by_memory; /* its keys have stacks, and the script does not say how many there may be */
};

struct image_arg {
	const struct type *type;
	uint32_t offset; /* from the start of the record */
	bool is_literal; /* the script has the value itself */
};

/* A string within a record that is sent without the bytes behind its NUL. */
struct image_text {
	uint32_t offset, size; /* of the whole, in bytes */
};

/* What a record of the kind "problem" stands for. */
enum problem { PROBLEM_READ, PROBLEM_DIVISION, PROBLEM_INDEX, PROBLEM_FULL, PROBLEM_MISSING, PROBLEM_LENGTH,
	PROBLEM_MAX };

/* A helper of the kernel's failed; else what the script does went wrong. */
static inline bool problem_is_helper(enum problem p)
{
	return p != PROBLEM_DIVISION && p != PROBLEM_INDEX && p != PROBLEM_LENGTH;
}

struct image_record {
	const char *kind;     /* "printf": a row of session/records.c */
	const char *text;     /* format, separator; NULL */
	uint32_t text_len;
	enum problem problem;
	uint32_t map;         /* index of image.maps */
	int64_t top, div;     /* of print-map; 0: absent */
	const struct image_arg *args;
	unsigned nargs;
	uint32_t size;        /* bytes of the whole record */
	const struct image_text *texts; /* in the order of their offsets; see image_record_unpack() */
	unsigned ntexts;
	struct span span;
};

/* Makes the whole record of one that was sent without the unused bytes of its texts. to has r->size bytes; those
 * behind a text's NUL stay as they are. Returns false where the n bytes sent are not such a record. */
bool image_record_unpack(const struct image_record *r, const uint8_t *sent, size_t n, uint8_t *to);

enum { IMAGE_NAMED_MAX = 16 };

struct image {
	uint32_t number;       /* in its session */
	bool grows;            /* it has all that later images may share */
	const struct source *source;
	const void *elf;
	size_t elf_size;
	struct image_prog *progs;
	unsigned nprogs;
	struct image_place *places;
	unsigned nplaces;
	struct image_map *maps;
	unsigned nmaps;
	struct image_record *records;
	unsigned nrecords;
	/* Texts of the script that have control characters: a value that is one of them is printed as it
	 * is, all others with \\xNN. */
	const char **texts;
	unsigned ntexts;
	bool print_maps;       /* at the end */
	uint32_t scratch_size; /* bytes of a scratch slot: value size of map `scratch` */
	bool ring;            /* the ring buffer is used */
	bool streams;         /* probes that the kernel calls send records with values: as many as there are events */
	uint32_t record_max;  /* bytes of the largest record */
	bool paths;           /* path.bpf.c is linked */
	bool tasks;           /* task.bpf.c is linked */
	bool calls_c;         /* functions of imported programs in C */
	bool problems;        /* problem.bpf.c is linked */
	bool kernel_stacks;   /* kstack.bpf.c is linked */
	bool unwinder;        /* is linked */
	bool handover;        /* user stacks are walked by the session's walker, through IMAGE_WALKER */
	bool user_stacks;     /* it is called: processes must be followed */
	bool user_symbols;    /* usym() is used: likewise */
	uint32_t languages;   /* user stacks are of these alone, 1 << enum frame_lang; 0: of any */
	/* Processes that predicates and conditions name (pid == N): they are read before the first event. */
	uint32_t named[IMAGE_NAMED_MAX];
	unsigned nnamed;
	uint32_t stack_limit; /* the largest limit of any stack that is stored */
};

/* What a script may use that earlier ones of its session made: their maps. */
struct symbols {
	const struct image *const *images;
	size_t n;
};
/* The first of that name, without the @; NULL: there is none. */
const struct image_map *symbols_map(const struct symbols *s, const char *name);

void image_dump(const struct image *img, FILE *out);
