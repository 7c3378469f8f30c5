// SPDX-License-Identifier: Apache-2.0
/* driver.h - the pass list: text -> image. */
#pragma once
#include <stdbool.h>

#include "base/source.h"
#include "codegen/codegen.h"
#include "model/provider.h"

struct arena;
struct image;

/* S(ID, name of -d): the stages whose results are printed; the compilation stops after the last one
 * asked for. */
#define STAGES(S)                                                                        \
	S(LEX, "lex")                                                                    \
	S(AST, "ast")                                                                    \
	S(NAMES, "names")                                                                \
	S(TYPES, "types")                                                                \
	S(LLVM, "llvm")                                                                  \
	S(ELF, "elf")                                                                    \
	S(IMAGE, "image")

enum stage {
#define S(id, name) STAGE_##id,
	STAGES(S)
#undef S
	STAGE_MAX
};

struct compile {
	struct arena *arena;
	struct source source;
	struct resolve_env env;
	struct codegen_options codegen;
	bool dump[STAGE_MAX];
	bool names_only;      /* -l: stop when the probes are known */
	bool colour;
	struct script *script;
	struct image *image; /* the result */
};

bool stage_by_name(const char *name, enum stage *ret);
/* "lex, ast, names, ..." */
const char *stage_names(void);

/* False: complaints have been printed to stderr. c->image stays NULL when a dump was
 * all that was asked for. */
bool compile(struct compile *c);
