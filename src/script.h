// SPDX-License-Identifier: Apache-2.0
/* script.h - the script that the command line names. */
#pragma once
#include <stdbool.h>

#include "model/request.h"

struct compile;
struct options;

/* Reads its text: of -e, of a tool, of a file or of stdin. Returns false after a complaint. */
bool script_load(struct options *o);
/* The command line as attach points are expanded with it; there are no diags. */
struct request script_request(struct options *o);
/* Fills in how c is compiled: arg is a struct options; c's source is set. */
void script_prepare(void *arg, struct compile *c);
/* Compiles the text that was loaded, into o->compile. Returns false after a complaint. */
bool script_compile(struct options *o);
