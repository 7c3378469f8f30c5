// SPDX-License-Identifier: Apache-2.0
/* ksyms.c - names of kernel addresses, from /proc/kallsyms.
 *
 * Symbols point into the text, which is kept: 10 MB and some 20 ms, spent when the first kernel address is
 * printed. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/vec.h"
#include "target/priv.h"

struct ksym {
	uint64_t addr;
	const char *name, *module;
	uint32_t order; /* position in the file: of aliases, the first one is shown */
};

struct ksyms {
	char *text;
	VEC(struct ksym) syms;
};

static int cmp_ksym(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Reads "ffffffff81000000 T name\t[module]". Only code is kept. */
static void parse_line(struct ksyms *k, char *line)
{
	char *end, *name, *module = "";
	uint64_t addr = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !addr)
		return;
	if (!strchr("tTwW", end[1]))
		return;
	name = end + 3;
	end = name + strcspn(name, "\t ");
	if (*end) {
		*end++ = '\0';
		module = end + strspn(end, "\t [");
		module[strcspn(module, "]")] = '\0';
	}
	vec_push(&k->syms, (struct ksym){ addr, name, module, (uint32_t)k->syms.len });
}

static struct ksyms *ksyms_new(struct target *t)
{
	struct ksyms *k = calloc(1, sizeof(*k));
	char *rest, *line;

	if (!k)
		return NULL;
	k->text = target_read(t, "/proc/kallsyms", 256 << 20, NULL);
	for (rest = k->text; rest && (line = strsep(&rest, "\n"));)
		parse_line(k, line);
	if (k->syms.len)
		qsort(k->syms.data, k->syms.len, sizeof(*k->syms.data), cmp_ksym);
	return k;
}

bool target_kernel_address(struct target *t, const char *name, uint64_t *ret)
{
	char *text = target_read(t, "/proc/kallsyms", 256 << 20, NULL), *rest = text, *line;
	size_t n = strlen(name);
	uint64_t found = 0;

	while (rest && !found && (line = strsep(&rest, "\n"))) {
		char *end;
		uint64_t addr = strtoull(line, &end, 16);

		if (end != line && end[0] == ' ' && end[1] && end[2] == ' ' && !strncmp(end + 3, name, n) &&
			(!end[3 + n] || end[3 + n] == '\t'))
			found = addr;
	}
	free(text);
	*ret = found;
	return found;
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	vec_done(&k->syms);
	free(k->text);
	free(k);
}

bool target_ksym(struct target *t, uint64_t addr, const char **ret_name, uint64_t *ret_offset,
	const char **ret_module)
{
	const struct ksym *syms;
	size_t lo = 0, hi;

	if (!t->ksyms)
		t->ksyms = ksyms_new(t);
	if (!t->ksyms || !t->ksyms->syms.len)
		return false;
	syms = t->ksyms->syms.data;
	for (hi = t->ksyms->syms.len; lo < hi;) {
		size_t mid = (lo + hi) / 2;

		if (syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	while (lo > 1 && syms[lo - 2].addr == syms[lo - 1].addr)
		lo--;
	*ret_name = syms[lo - 1].name;
	*ret_offset = addr - syms[lo - 1].addr;
	*ret_module = syms[lo - 1].module;
	return true;
}
