// SPDX-License-Identifier: Apache-2.0
/* pclntab.h - the table that the Go linker leaves in every program, stripped or not: functions, their names,
 * frame sizes, lines and inlined calls. From Go 1.18 on; the magic identifies the format (fffffff0: 1.18,
 * 1.19; fffffff1: 1.20 and later, the same in 1.27). The file is untrusted: missing data reads as 0 or "?". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;
struct pclntab;

/* Opens a table, to be pclntab_close()d before the elf. Returns -ENOENT if the file is not
 * Go's, or older than 1.18. */
int pclntab_open(struct elf *e, struct pclntab **ret);
void pclntab_close(struct pclntab *t);
static inline void pclntab_closep(struct pclntab **t) { pclntab_close(*t); }

/* Returns 100 * major + minor, from .go.buildinfo: 119 for go1.19.8, or 0 if it is unknown. */
unsigned pclntab_version(const struct pclntab *t);

/* The flags of a function, as in runtime/symtab.go. */
enum pcln_flag {
	PCLN_TOP_FRAME = 1, /* the first function of a goroutine or thread */
	PCLN_SP_WRITE = 2,  /* moves to another stack */
	PCLN_ASM = 4,
};

struct pcln_function {
	uint64_t start, end; /* vaddr, half open */
	const char *name;
	uint8_t flags;       /* enum pcln_flag */
	const uint8_t *raw;  /* its struct _func */
	size_t size;         /* bytes from raw to the table's end */
};

size_t pclntab_functions(const struct pclntab *t);
/* Reads the i-th function, by address. */
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
/* Starts a walk over the distances of sp below its value at the function's entry, in bytes. */
void pclntab_sp(const struct pclntab *t, const struct pcln_function *f, struct pcln_values *ret);
bool pclntab_next(struct pcln_values *v);

struct pcln_position {
	const char *function, *file; /* file may be NULL */
	uint32_t line;
	bool wrapper; /* made by the compiler; Go never shows it */
};
#define PCLN_POSITIONS_MAX 64
/* Finds the source positions of an address: inlined functions innermost first, then the function that
 * contains the code. Returns their number, or 0 if there is no function. */
size_t pclntab_positions(const struct pclntab *t, uint64_t vaddr,
	struct pcln_position ret[PCLN_POSITIONS_MAX]);
