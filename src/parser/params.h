/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - positional parameters ($1) in expressions; positional parameters and options in attach points. */
#pragma once

struct arena;
struct attach_point;
struct diags;
struct expr;
struct request;
struct script;

struct params {
	const struct script *script;
	const struct request *req;
	struct arena *arena;
	struct diags *diags;
};

/* n is a PARAM, which becomes a number or a string. */
void params_in_expr(const struct params *p, struct expr *n);

/* Replaces the parameters and options in the words of an attach point. */
void params_in_point(const struct params *p, struct attach_point *ap);
