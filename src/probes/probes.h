// SPDX-License-Identifier: Apache-2.0
/* probes.h - the providers, and functions that their expand() share. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "model/attach_point.h"
#include "model/provider.h"
#include "model/request.h"
#include "probes/attach.h"

#define P(name, file) extern const struct provider provider_##name;
#include "probes.def"
#undef P

/* Returns a zeroed place at the end of the attach point's list. */
struct place *place_add(const struct request *req, struct attach_point *ap);
/* Complains that the attach point does not have the provider's form. */
bool form_error(const struct request *req, const struct attach_point *ap,
	const char *what);
/* Nothing was found: an error, a warning or silence, by the script's missing_probes. Returns false for
 * silence; otherwise a hint may follow. */
bool missing_place(const struct request *req, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns the result of expand() after missing_place(). */
bool missing_allowed(const struct request *req);
/* Passes on the names that match with the prefix, for list(). */
int list_kernel_functions(const struct request *req, const char *prefix,
	const char *const *names, const char *pattern,
	void (*found)(const char *name, void *arg), void *arg);
/* tracepoint_fields.c: the event's args.NAME. */
struct trace_event;
const struct field *tracepoint_fields(const struct request *req, const struct trace_event *e);
/* Return place.of_others, by the event's category or by the name of a raw tracepoint: of_others.c. */
bool tracepoint_is_of_others(const char *category);
bool raw_tracepoint_is_of_others(const char *name);
/* kprobe.c: attach kprobes, also in place of fentry. */
int kprobe_attach(struct loaded_probe *p);
int kretprobe_attach(struct loaded_probe *p);
/* The names of periods, for -l. */
extern const char *const period_names[];
/* Sets freq and period from "hz:99", "ms:10", "1s", "1000000". Returns false if it has complained. */
bool parse_period(const struct request *req, struct attach_point *ap, struct place *p);
