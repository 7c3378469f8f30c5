/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h - the settings of strata agent: /etc/strata/agent.conf, then /etc/strata/agent.conf.d/?*.conf, sorted by name.
 * The meaning of a script is in the script; these files have the decisions of a machine's owner. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* [unit NAME]: NULL, a window of 0, and values below 0 stand for the settings of [agent]. */
struct unit_conf {
	char *name;
	char *args;     /* words for the script */
	double window;  /* seconds; also replaces the script's own window */
	double cpu;     /* share of one CPU; 0: no limit */
	int64_t memory; /* bytes; 0: that of the script */
	bool disabled;
};

/* Owns its strings. */
struct conf {
	char *scripts;  /* directory */
	char *listen;   /* ADDRESS:PORT, or "" for none */
	double window;  /* seconds, for scripts without their own */
	double cpu;     /* share of one CPU for a unit; 0: no limit */
	double cpu_all; /* for all units together; 0: no limit */
	int64_t memory; /* bytes of a unit's tables and files; 0: that of the script */
	uint64_t memory_all; /* bytes of the agent and all units together; 0: no limit */
	char *endpoint; /* [otlp]: URL, or NULL: nothing is sent */
	char *headers_file;
	char *spool;    /* directory, or NULL: none */
	uint64_t spool_bytes;
	double spool_age, timeout; /* seconds */
	bool gzip;
	VEC(struct unit_conf) units;
};

/* Reads the files; `path` (-c) is used instead of /etc/strata/agent.conf and its directory. A missing
 * /etc/strata/agent.conf is empty. Returns false after an error. Call conf_done() in both cases. */
bool conf_read(const char *path, struct conf *ret);
void conf_done(struct conf *c);
/* Returns the settings of a unit, or NULL if it has none of its own. */
const struct unit_conf *conf_unit(const struct conf *c, const char *name);
/* Return the settings that hold for a unit. */
double conf_unit_cpu(const struct conf *c, const char *name);
int64_t conf_unit_memory(const struct conf *c, const char *name);
