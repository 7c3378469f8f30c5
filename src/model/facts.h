// SPDX-License-Identifier: Apache-2.0
/* facts.h - facts about the machine on which the code of an image depends; another machine must have them, too.
 *
 * A constant that may differ there is a hole: an instruction that loads 64 bits, whose high half is HOLE_MARK and whose
 * low half is the hole's number. The machine on which the image runs fills it (src/start/), so the verifier and the CPU
 * see an ordinary constant. Everything else that the code depends on is a fact, which is compared there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/source.h"
#include "model/provider.h"

struct arena;
struct type;

enum { HOLE_MARK = 0x53a7c0de };

enum hole_kind {
	HOLE_MEMBER, /* the offset of a member of a kernel struct, in bytes */
	HOLE_CPUS,   /* number of possible CPUs */
	HOLE_START,  /* codegen_options.start_ns, .. */
	HOLE_TAI,    /* .. tai_ns, .. */
	HOLE_WALL,   /* .. wall_ns */
	HOLE_CHILD,  /* process id of the command of -c, or 0 */
	HOLE_MAX
};

struct hole {
	enum hole_kind kind;
	/* MEMBER: the offset of `path` ("d_name.len") in `root` ("struct dentry"), minus that of its first `skip` bytes
	 * ("d_name", or nothing), which belong to another hole. */
	const char *root, *path;
	uint32_t skip;
	uint32_t size;  /* of the member, in bytes */
	uint8_t bit_offset, bit_size;
};

/* A member of a struct whose layout must be the same. */
struct fact_part {
	const char *name;
	uint32_t offset, size;
};
struct fact_layout {
	const char *name;  /* "struct timespec64" */
	uint32_t size;
	struct fact_part *parts;
	unsigned nparts;
};

/* The value of a name in the kernel's BTF. */
struct fact_constant {
	const char *name;
	uint64_t value;
};

/* An argument that the code reads, at a place of the image. */
struct fact_field {
	uint32_t place;
	const char *name;
	enum field_where where;
	uint32_t offset, offset2, scale, size;
	int64_t value;
};

/* An attach point, which is expanded where the image runs. */
struct fact_point {
	const char *text;
	const char **words;
	struct span *word_spans; /* as many as words */
	unsigned nwords;
	struct span span;
	const struct provider *provider;
	bool is_open;      /* one program serves whatever it expands to; else the places are those of the build */
	bool args, retval; /* request.wants_args, .wants_retval */
	bool more;         /* the point before is of the same probe */
	bool of_others;    /* all places of the probe are place.of_others: strata's own events count */
};

struct facts {
	struct arena *arena;
	bool stays;           /* the image runs on this kernel only, later: the kernel's types are not facts */
	struct hole *holes;
	unsigned nholes;
	struct fact_layout *layouts;
	unsigned nlayouts;
	struct fact_constant *constants;
	unsigned nconstants;
	struct fact_field *fields;
	unsigned nfields;
	struct fact_point *points;
	unsigned npoints;
	const char *bound;    /* why the image cannot leave this machine; NULL: it can */
	struct span bound_at; /* ..and the place in the script */
};

/* These functions do nothing if f is NULL: the image stays on this machine. Texts are not copied. */
/* Returns the number of the hole; the same one for equal holes. */
unsigned facts_hole(struct facts *f, const struct hole *h);
/* The code depends on the size and members of t, if t is a struct of the kernel, or an array of them. */
void facts_layout(struct facts *f, const struct type *t);
void facts_constant(struct facts *f, const char *name, uint64_t value);
void facts_field(struct facts *f, uint32_t place, const struct field *field);
struct fact_point *facts_point(struct facts *f);
/* The first reason stays. */
void facts_bind(struct facts *f, struct span at, const char *why);

/* Describes the struct as in a fact. */
void fact_layout_of(struct arena *a, const struct type *t, struct fact_layout *ret);
