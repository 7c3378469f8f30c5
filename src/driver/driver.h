// SPDX-License-Identifier: Apache-2.0
/* driver.h - the list of passes from text to image. */
#pragma once
#include <stdbool.h>

#include "base/source.h"
#include "codegen/codegen.h"
#include "model/request.h"
#include "types/types.h"

struct arena;
struct image;

/* The stages that -d prints, in their order. The compilation stops after the last one that is printed. */
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
	const struct source *earlier; /* definitions of earlier lines, or NULL */
	bool names_only;      /* -l: stop once the probes are known */
	bool is_again;        /* the script was compiled before: its warnings were printed */
	bool colour;
	const char *help_words; /* how to ask for the help on the script's options; NULL for "-- --help" */
	bool helps;           /* the script's options were listed, and nothing has to run */
	struct script *script;
	struct image *image; /* the result */
};

bool stage_by_name(const char *name, enum stage *ret);

/* Returns whether more text could complete the text, which was typed at a prompt. */
bool compile_is_unfinished(const char *text);

/* Returns false after errors, which were printed to stderr. c->image stays NULL if the script is only
 * printed. */
bool compile(struct compile *c);
