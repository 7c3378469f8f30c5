// SPDX-License-Identifier: Apache-2.0
/* script.h - the script that the command line names. */
#pragma once
#include <stdbool.h>

#include "model/request.h"

struct compile;
struct options;

/* Reads the script's text: of -e, of a tool, of a file or of stdin. Returns false after an error. */
bool script_load(struct options *o);
/* Returns the input for expanding attach points, from the command line, without diags. */
struct request script_request(struct options *o);
/* Sets the options for compiling c, whose source is set. arg is a struct options. */
void script_prepare(void *arg, struct compile *c);
/* Compiles the loaded text, into o->compile. Returns false after an error. */
bool script_compile(struct options *o);
