/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - the pages of the agent's server: /metrics, /healthz, /readyz, and / with the state of the units. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct exporter;
struct memory;
struct str;
struct unit;

struct pages {
	struct unit *const *units; /* the first of the list */
	uint64_t started;          /* CLOCK_REALTIME ns */
	uint64_t reloads, reload_failures;
	bool stats;                /* the kernel counts the time of BPF programs */
	const struct memory *memory;
	struct exporter *exporter; /* NULL: nothing is sent */
};

/* Is an http_page. */
int pages_print(void *arg, const char *path, struct str *out, const char **ret_type);
/* Appends the state of each unit, a line each. */
void pages_units(const struct pages *p, struct str *out);
