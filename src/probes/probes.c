// SPDX-License-Identifier: Apache-2.0
/* probes.c - the providers, and functions that their expand() share. */
#include "probes.h"

#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/str.h"

const struct provider *const providers[] = {
#define P(name, file) &provider_##name,
#include "probes.def"
#undef P
	NULL,
};

struct place *place_add(const struct request *req, struct attach_point *ap)
{
	struct place *p = arena_new_obj(req->arena, struct place);
	struct place **last = ap->data ? (struct place **)ap->data : &ap->places;

	*last = p;
	ap->data = &p->next;
	ap->nplaces++;
	p->name = ap->text;
	p->func = "";
	return p;
}

bool form_error(const struct request *req, const struct attach_point *ap, const char *what)
{
	diag(req->diags, ap->span, DIAG_ATTACH_POINT, "%s", what);
	diag_hint(req->diags, "write it as %s", ap->provider->form);
	return false;
}

bool missing_place(const struct request *req, struct span at, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (req->settings.missing_probes == MISSING_IGNORE)
		return false;
	va_start(ap, fmt);
	text = arena_vprintf(req->arena, fmt, ap);
	va_end(ap);
	if (req->settings.missing_probes == MISSING_WARN)
		diag_warn(req->diags, at, DIAG_NO_PLACE, "%s", text);
	else
		diag(req->diags, at, DIAG_NO_PLACE, "%s", text);
	return true;
}

bool missing_allowed(const struct request *req)
{
	return req->settings.missing_probes != MISSING_ERROR;
}

int list_kernel_functions(const struct request *req, const char *prefix,
	const char *const *names, const char *pattern,
	void (*found)(const char *name, void *arg), void *arg)
{
	for (; names && *names; names++) {
		const char *full = arena_printf(req->arena, "%s%s", prefix, *names);

		if (glob_match(pattern, full))
			found(full, arg);
	}
	return 0;
}

/* ---- periods ------------------------------------------------------------ */

const char *const period_names[] = {"hz:", "ms:", "s:", "us:", NULL};

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000},
	{"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
};

static bool unit_ns(const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, name)) {
			*ret = units[i].ns;
			return true;
		}
	return false;
}

static bool period_error(const struct request *req, struct attach_point *ap, unsigned word,
	const char *what)
{
	struct span at = word < ap->nwords ? ap->word_spans[word] : ap->span;

	diag(req->diags, at, DIAG_ATTACH_POINT, "%s", what);
	diag_hint(req->diags, "write it as %s", ap->provider->form);
	return false;
}

static bool set_period(const struct request *req, struct attach_point *ap, unsigned word,
	uint64_t n, uint64_t unit, struct place *p)
{
	if (!n)
		return period_error(req, ap, word, "the period must be greater than 0");
	if (n > UINT64_MAX / unit)
		return period_error(req, ap, word, "the period is too long");
	p->period = n * unit;
	if (p->period < 1000)
		return period_error(req, ap, word, "the shortest period is 1000 ns");
	return true;
}

/* "1s", "100ms", or bare nanoseconds. */
static bool parse_duration(const struct request *req, struct attach_point *ap,
	struct place *p)
{
	const char *text = ap->words[1], *rest;
	uint64_t n, unit = 1;
	size_t len;

	if (number_read(text, strlen(text), &n, &len) || (text[len] && !unit_ns(text + len, &unit)))
		return period_error(req, ap, 1, "not a period");
	rest = text + len;
	if (!*rest && n && n < 1000) {
		diag(req->diags, ap->word_spans[1], DIAG_ATTACH_POINT,
			"a period without a unit is in nanoseconds: 1000 at least");
		diag_hint(req->diags, "did you mean %s:%s:%s?", ap->provider->name,
			ap->provider == &provider_profile ? "hz" : "s", ap->words[1]);
		return false;
	}
	if (!set_period(req, ap, 1, n, unit, p))
		return false;
	p->name = arena_printf(req->arena, "%s:us:%llu", ap->provider->name, (unsigned long long)p->period / 1000);
	return true;
}

bool parse_period(const struct request *req, struct attach_point *ap, struct place *p)
{
	uint64_t n, unit;

	if (ap->nwords == 2)
		return parse_duration(req, ap, p);
	if (ap->nwords != 3)
		return form_error(req, ap, "a period is missing");
	if (!number_is(ap->words[2], &n))
		return period_error(req, ap, 2, "not a number");
	p->name = arena_printf(req->arena, "%s:%s:%llu", ap->provider->name, ap->words[1], (unsigned long long)n);
	if (!strcmp(ap->words[1], "hz")) {
		if (!n || n > 1000000)
			return period_error(req, ap, 2, "the frequency must be 1 to 1000000 Hz");
		p->freq = true;
		p->period = n;
		return true;
	}
	if (!unit_ns(ap->words[1], &unit) || unit > 1000000000)
		return period_error(req, ap, 1, "the unit must be hz, s, ms or us");
	return set_period(req, ap, 2, n, unit, p);
}
