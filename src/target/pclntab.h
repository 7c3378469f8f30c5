// SPDX-License-Identifier: Apache-2.0
/* pclntab.h - what the Go linker leaves in every program, stripped or not: functions,
 * their names, frame sizes, lines and inlined calls. Go 1.18 and newer: the magic says
 * the format (fffffff0: 1.18, 1.19; fffffff1: 1.20 and later, the same in 1.27). The
 * file is untrusted: what is not there reads as 0 or "?". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;
struct pclntab;

/* To be pclntab_close()d, before the elf. -ENOENT: not Go's, or older than 1.18. */
int pclntab_open(struct elf *e, struct pclntab **ret);
void pclntab_close(struct pclntab *t);
static inline void pclntab_closep(struct pclntab **t) { pclntab_close(*t); }

/* 100 * major + minor, of .go.buildinfo: 119 for go1.19.8; 0: not known. */
unsigned pclntab_version(const struct pclntab *t);

/* The flags of a function, as in runtime/symtab.go. */
enum pcln_flag {
	PCLN_TOP_FRAME = 1, /* a goroutine's or thread's first */
	PCLN_SP_WRITE = 2,  /* moves to another stack */
	PCLN_ASM = 4,
};

struct pcln_function {
	uint64_t start, end; /* vaddr, half open */
	const char *name;
	uint8_t flags;       /* enum pcln_flag */
	const uint8_t *raw;  /* its struct _func */
	size_t size;         /* bytes from there to the table's end */
};

size_t pclntab_functions(const struct pclntab *t);
/* The i-th, by address. */
bool pclntab_function(const struct pclntab *t, size_t i, struct pcln_function *ret);
bool pclntab_find(const struct pclntab *t, uint64_t vaddr, struct pcln_function *ret);

/* A walk over one of a function's tables: value holds for [start, end). */
struct pcln_values {
	const uint8_t *p, *stop;
	uint64_t start, end;
	int32_t value;
	uint32_t quantum;
	bool first;
};
/* How far sp is below where the function was entered, in bytes. */
void pclntab_sp(const struct pclntab *t, const struct pcln_function *f, struct pcln_values *ret);
bool pclntab_next(struct pcln_values *v);

struct pcln_position {
	const char *function, *file; /* file may be NULL */
	uint32_t line;
	bool wrapper; /* made by the compiler; Go shows it nowhere */
};
#define PCLN_POSITIONS_MAX 64
/* The source position of an address: inlined functions innermost first, then the one that holds
 * the code. How many; 0: no function is there. */
size_t pclntab_positions(const struct pclntab *t, uint64_t vaddr,
	struct pcln_position ret[PCLN_POSITIONS_MAX]);
