// SPDX-License-Identifier: Apache-2.0
/* driver.h - the pass list: text -> image. */
#pragma once
#include <stdbool.h>

#include "base/source.h"
#include "codegen/codegen.h"
#include "model/request.h"
#include "types/types.h"

struct arena;
struct image;

/* The stages that -d prints, in their order; the compilation stops after the last one asked for. */
#define STAGES(FIRST, S)                                                                 \
	FIRST(LEX, "lex") S(AST, "ast") S(NAMES, "names") S(TYPES, "types") S(LLVM, "llvm") \
	S(ELF, "elf") S(IMAGE, "image")

#define STAGE_ID(id, name) STAGE_##id,
enum stage { STAGES(STAGE_ID, STAGE_ID) STAGE_MAX };
#undef STAGE_ID

#define STAGE_FIRST(id, name) name
#define STAGE_NEXT(id, name)  ", " name
#define STAGE_LIST            STAGES(STAGE_FIRST, STAGE_NEXT) /* for messages */

struct compile {
	struct arena *arena;
	struct source source;
	struct request req;
	struct codegen_options codegen;
	struct c_options c_options;
	bool dump[STAGE_MAX];
	bool is_line;         /* typed at a prompt */
	const struct source *earlier; /* what earlier lines defined; or NULL */
	bool names_only;      /* -l: stop when the probes are known */
	bool colour;
	const char *help_words; /* how a person asks for the script's options; NULL: "-- --help" */
	bool helps;           /* the script's options were listed, and nothing is to be run */
	struct script *script;
	struct image *image; /* the result */
};

bool stage_by_name(const char *name, enum stage *ret);

/* Is the text, typed at a prompt, one that more text could make whole? */
bool compile_is_unfinished(const char *text);

/* False: complaints have been printed to stderr. c->image stays NULL when a dump was
 * all that was asked for. */
bool compile(struct compile *c);
