// SPDX-License-Identifier: Apache-2.0
/* conf.c - each key is a row: section, name, kind of value, place. */
#include "conf.h"

#include <errno.h>
#include <glob.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/why.h"
#include "ini.h"
#include "modes/loop.h"

#define CONF "/etc/strata/agent.conf"

enum kind { TEXT, TIME, SHARE, SIZE, TRUTH, OPPOSITE };

static const struct key {
	const char *section, *name;
	enum kind kind;
	size_t at;
} keys[] = {
	{"agent", "cpu", SHARE, offsetof(struct conf, cpu)},
	{"agent", "cpu_all", SHARE, offsetof(struct conf, cpu_all)},
	{"agent", "listen", TEXT, offsetof(struct conf, listen)},
	{"agent", "memory", SIZE, offsetof(struct conf, memory)},
	{"agent", "memory_all", SIZE, offsetof(struct conf, memory_all)},
	{"agent", "scripts", TEXT, offsetof(struct conf, scripts)},
	{"agent", "window", TIME, offsetof(struct conf, window)},
	{"otlp", "endpoint", TEXT, offsetof(struct conf, endpoint)},
	{"otlp", "gzip", TRUTH, offsetof(struct conf, gzip)},
	{"otlp", "headers_file", TEXT, offsetof(struct conf, headers_file)},
	{"otlp", "spool", TEXT, offsetof(struct conf, spool)},
	{"otlp", "spool_age", TIME, offsetof(struct conf, spool_age)},
	{"otlp", "spool_size", SIZE, offsetof(struct conf, spool_bytes)},
	{"otlp", "timeout", TIME, offsetof(struct conf, timeout)},
	{"unit", "args", TEXT, offsetof(struct unit_conf, args)},
	{"unit", "cpu", SHARE, offsetof(struct unit_conf, cpu)},
	{"unit", "enabled", OPPOSITE, offsetof(struct unit_conf, disabled)},
	{"unit", "memory", SIZE, offsetof(struct unit_conf, memory)},
	{"unit", "window", TIME, offsetof(struct unit_conf, window)},
};

/* ---- values ------------------------------------------------------------- */

/* Reads "2%". */
static bool read_share(const char *text, double *ret)
{
	char *end;
	double v = strtod(text, &end);

	*ret = v / 100;
	return end > text && !strcmp(end, "%") && v >= 0 && v <= 100000;
}

/* Reads "64M". */
static bool read_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t v = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (end == text || *text == '-' || v > 1ull << 40 || (*end && (!unit || end[1])))
		return false;
	*ret = v << (unit ? 10 * (unit - units + 1) : 0);
	return true;
}

static bool read_truth(const char *text, bool *ret)
{
	*ret = !strcmp(text, "yes") || !strcmp(text, "true") || !strcmp(text, "1");
	return *ret || !strcmp(text, "no") || !strcmp(text, "false") || !strcmp(text, "0");
}

/* Returns NULL, or the wanted form. */
static const char *read_value(const struct key *k, const char *text, void *at)
{
	bool truth;

	switch (k->kind) {
	case TEXT:
		free(*(char **)at);
		*(char **)at = strdup(text);
		return NULL;
	case TIME:
		return loop_read_time(text, at) ? NULL : "the value must be a time, such as 10s or 2m";
	case SHARE:
		return read_share(text, at) ? NULL : "the value must be a share of one CPU, such as 2%";
	case SIZE:
		return read_size(text, at) ? NULL : "the value must be a number of bytes, such as 64M";
	case TRUTH:
	case OPPOSITE:
		if (!read_truth(text, &truth))
			return "the value must be yes or no";
		*(bool *)at = k->kind == TRUTH ? truth : !truth;
		break;
	}
	return NULL;
}

/* ---- sections ----------------------------------------------------------- */

static struct unit_conf *unit_named(struct conf *c, const char *name)
{
	for (size_t i = 0; i < c->units.len; i++)
		if (!strcmp(c->units.data[i].name, name))
			return &c->units.data[i];
	vec_push(&c->units, (struct unit_conf){.name = strdup(name), .cpu = -1, .memory = -1});
	return &c->units.data[c->units.len - 1];
}

static const char *take(void *arg, const char *section, const char *name, const char *value)
{
	bool is_unit = !strncmp(section, "unit ", strlen("unit "));
	struct conf *c = arg;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct key *k = &keys[i];

		if (strcmp(k->section, is_unit ? "unit" : section) != 0 || strcmp(k->name, name) != 0)
			continue;
		if (is_unit)
			return read_value(k, value, (char *)unit_named(c, section + strlen("unit ")) + k->at);
		return read_value(k, value, (char *)c + k->at);
	}
	if (!is_unit && strcmp(section, "agent") != 0 && strcmp(section, "otlp") != 0)
		return "the sections are [agent], [otlp] and [unit NAME]";
	return is_unit ? "the keys of a unit are args, cpu, enabled, memory and window" : *section == 'a' ?
		"the keys of [agent] are cpu, cpu_all, listen, memory, memory_all, scripts and window" :
		"the keys of [otlp] are endpoint, gzip, headers_file, spool, spool_age, spool_size and timeout";
}

static bool read_file(const char *path, bool must, struct conf *c)
{
	int r = ini_read(path, take, c);

	if (r && r != -EINVAL && (must || r != -ENOENT))
		log_error("cannot read %s: %s", path, why_errno(r));
	return !r || (r == -ENOENT && !must);
}

bool conf_read(const char *path, struct conf *ret)
{
	bool ok = true;
	glob_t g = {};

	*ret = (struct conf){
		.scripts = strdup("/etc/strata/scripts"), .listen = strdup("127.0.0.1:9436"), .window = 10,
		.cpu = 0.05, .cpu_all = 0.1, .memory = 64 << 20, .memory_all = 200 << 20,
		.spool_bytes = 64 << 20, .spool_age = 3600, .timeout = 10, .gzip = true,
	};
	ok = read_file(path ? path : CONF, path != NULL, ret);
	if (path)
		return ok;
	glob(CONF ".d/?*.conf", 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++)
		ok &= read_file(g.gl_pathv[i], true, ret);
	globfree(&g);
	return ok;
}

void conf_done(struct conf *c)
{
	for (size_t i = 0; i < c->units.len; i++) {
		free(c->units.data[i].name);
		free(c->units.data[i].args);
	}
	vec_done(&c->units);
	free(c->scripts);
	free(c->listen);
	free(c->endpoint);
	free(c->headers_file);
	free(c->spool);
	*c = (struct conf){};
}

const struct unit_conf *conf_unit(const struct conf *c, const char *name)
{
	for (size_t i = 0; i < c->units.len; i++)
		if (!strcmp(c->units.data[i].name, name))
			return &c->units.data[i];
	return NULL;
}

double conf_unit_cpu(const struct conf *c, const char *name)
{
	const struct unit_conf *u = conf_unit(c, name);

	return u && u->cpu >= 0 ? u->cpu : c->cpu;
}

int64_t conf_unit_memory(const struct conf *c, const char *name)
{
	const struct unit_conf *u = conf_unit(c, name);

	return u && u->memory >= 0 ? u->memory : c->memory;
}
