// SPDX-License-Identifier: Apache-2.0
/* image.h - a compiled script, the only input of a session. The session does not see the tree, and code
 * generation does not hold file descriptors. All members live in the arena in which the image was made. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/source.h"

struct facts;
struct frame_pattern;
struct image_record;
struct place;
struct provider;
struct type;

/* The images of a session are numbered from 0. Values that come back from the kernel contain the image's
 * number. */
#define IMAGES_MAX        (1u << 12)
#define IMAGE_RECORDS_MAX (1u << 20)

/* Returns whether the record makes output, unlike those of clear() and exit(). */
bool image_record_prints(const struct image_record *r);
/* Returns whether all numbers in the image refer to an existing part, which codegen guarantees. */
struct image;
bool image_is_whole(const struct image *img);

/* Returns the id of struct record for the n-th record of the image. */
static inline uint32_t image_record_id(uint32_t image, uint32_t n)
{
	return image << 20 | n;
}

/* Returns a value of TYPE_PLACE: the n-th place of the image, which is the first with its name (or
 * function). */
static inline uint64_t image_place_id(uint32_t image, uint32_t n)
{
	return (uint64_t)image << 32 | n;
}

/* One BPF program: a body, and the places to which it is attached. */
struct image_prog {
	const char *name;    /* name of the ELF symbol */
	const char *section;
	const struct provider *provider;
	uint32_t first_place, nplaces; /* range in image.places */
	bool sleeps;         /* loaded with BPF_F_SLEEPABLE */
	bool walks;          /* it calls the unwinder's functions */
	bool overrides;      /* it calls override(): the kernel checks the functions to which it is attached */
	uint32_t point;      /* index in image.facts->points, if the image has facts */
	struct span span;    /* the probe's span in the script */
};

struct image_place {
	const struct place *place;
	uint32_t name, func; /* index of the image's first place with the same name, and with the same function */
};

/* An attach cookie has a place's name in its low bits and its function above: at most 2^26 places. */
enum { IMAGE_COOKIE_FUNC = 26, IMAGE_PLACES_MAX = 1 << IMAGE_COOKIE_FUNC };
static inline uint64_t image_place_cookie(const struct image_place *p)
{
	return (uint64_t)p->func << IMAGE_COOKIE_FUNC | p->name;
}

/* The name of the array of programs whose first element is the walker of that program. */
#define IMAGE_WALKER "walker_%u"

/* The map that counts the runs of each of the image's first programs, as u64s in one mmapable page. See
 * provider.counts_runs. */
#define IMAGE_TICKS     "ticks"
#define IMAGE_TICKS_MAX 512

/* A map. The value of a scalar map ends with a word that is not 0 once the value was set. */
struct image_map {
	const char *name;     /* without the @ */
	const char *bpf_name; /* name of the map in the ELF */
	const struct type *key;   /* NULL for a scalar */
	const char *key_text;     /* the key as the script first writes it, "comm, ustack"; NULL if it is not known */
	const struct type *value;
	const char *declared; /* the kind in `let @name = KIND(N)`; NULL: config max_map_keys is the size */
	uint32_t key_size, value_size; /* bytes in the kernel, for each CPU's value */
	uint32_t type, max_entries; /* enum bpf_map_type, and its elements unless sized_by_memory */
	bool per_cpu;
	bool taken;           /* userspace replaces it by an empty map: an array with one map, the current one */
	bool sized_by_memory; /* its keys have stacks, and the script does not set the number of keys */
};

struct image_arg {
	const struct type *type;
	uint32_t offset; /* from the start of the record */
	bool is_literal; /* the script contains the value itself */
};

/* A string in a record. The bytes after its NUL are not sent. */
struct image_text {
	uint32_t offset, size; /* range of the whole string, in bytes */
};

/* The problem that a record of the kind "problem" reports. */
enum problem { PROBLEM_READ, PROBLEM_DIVISION, PROBLEM_INDEX, PROBLEM_FULL, PROBLEM_MISSING, PROBLEM_LENGTH,
	PROBLEM_UNDECIDED, PROBLEM_APPLY, PROBLEM_UPDATE, PROBLEM_MAX };

/* Returns whether a helper of the kernel failed; if not, the script itself made a mistake. */
static inline bool problem_is_helper(enum problem p)
{
	return p != PROBLEM_DIVISION && p != PROBLEM_INDEX && p != PROBLEM_LENGTH && p != PROBLEM_UNDECIDED &&
		p != PROBLEM_APPLY && p != PROBLEM_UPDATE;
}

struct image_record {
	const char *kind;     /* "printf": the name of a row in session/records.c */
	const char *text;     /* format or separator; or NULL */
	uint32_t text_len;
	enum problem problem;
	uint32_t map;         /* index of image.maps */
	int64_t top, div;     /* of print-map; 0 if absent */
	bool takes;           /* of print-map: the map is empty afterwards */
	const struct image_arg *args;
	unsigned nargs;
	uint32_t size;        /* bytes of the whole record */
	const struct image_text *texts; /* sorted by offset; see image_record_unpack() */
	unsigned ntexts;
	struct span span;
	const struct image_gate *gate; /* of "gate" */
	uint32_t apply;       /* of "apply": number of the program.. */
	uint32_t failed;      /* ..and the record that counts updates that failed */
};

/* A condition with has_frame() or names of containers. */
struct image_gate {
	unsigned n;
	uint8_t patterns[6];  /* by number of the has_frame() in the condition: index of image.patterns */
	uint32_t undecided;   /* the record that counts events that could not be decided */
};

enum { IMAGE_PATTERNS_MAX = 13 };

/* Restores a whole record from one that was sent without the unused bytes of its texts. to has r->size
 * bytes; the bytes after a text's NUL are not changed. Returns false if the n bytes sent are not such a
 * record. */
bool image_record_unpack(const struct image_record *r, const uint8_t *sent, size_t n, uint8_t *to);

enum { IMAGE_NAMED_MAX = 16 };

struct image {
	uint32_t number;       /* number in its session */
	bool grows;            /* it contains everything that later images may share */
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
	/* Texts of the script with control characters. A value that equals one of them is printed as it is,
	 * all others with \\xNN. */
	const char **texts;
	unsigned ntexts;
	bool print_maps;       /* print all maps at the end */
	uint32_t scratch_size; /* bytes of a scratch slot, which is the value size of map `scratch` */
	bool ring;            /* the ring buffer is used */
	bool streams;         /* probes that the kernel calls send records with values, one for each event */
	uint32_t record_max;  /* bytes of the largest record */
	bool paths;           /* path.bpf.c is linked */
	bool tasks;           /* task.bpf.c is linked */
	bool requests;        /* request.bpf.c is linked, so processes must be followed */
	bool calls_c;         /* functions of imported C programs are called */
	bool problems;        /* problem.bpf.c is linked */
	bool kernel_stacks;   /* kstack.bpf.c is linked */
	bool unwinder;        /* the unwinder is linked */
	bool handover;        /* user stacks are walked by the session's walker, through IMAGE_WALKER */
	bool user_stacks;     /* the unwinder is called, so processes must be followed */
	bool user_symbols;    /* usym() is used, so processes must be followed */
	uint32_t languages;   /* bits 1 << enum frame_lang: the only languages of user stacks; 0 for any */
	/* Processes that predicates and conditions name (pid == N). They are read before the first event. */
	uint32_t named[IMAGE_NAMED_MAX];
	unsigned nnamed;
	const struct frame_pattern *patterns[IMAGE_PATTERNS_MAX]; /* of conditions with has_frame() */
	unsigned npatterns;
	bool gates;           /* a condition has has_frame() or the name of a container */
	unsigned napplies;     /* programs that make updates of held events: APPLY_PROGRAM in bpf/walk/match.h */
	uint32_t apply_size;   /* bytes of the largest record for them */
	uint32_t stack_limit; /* the largest limit of a stored stack */
	struct facts *facts;  /* of an image that may run on another machine; NULL for all others */
};

/* The maps that earlier scripts of a session made, which a script may use. */
struct symbols {
	const struct image *const *images;
	size_t n;
};
/* Returns the first map of that name (without the @), or NULL if there is none. */
const struct image_map *symbols_map(const struct symbols *s, const char *name);

void image_dump(const struct image *img, FILE *out);
