// SPDX-License-Identifier: Apache-2.0
/* iter.c - iter:NAME, each object of a kind in the kernel, once: tasks, their files, sockets..
 *
 * The kernel runs the program for each object while its iterator is read. The program writes one byte for
 * each to the iterator's file, so that a read of n bytes ends after n of them, and the records can be read
 * from the ring buffer before more arrive (codegen/gen.c). */
#include "probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "types/types.h"

#define PREFIX "bpf_iter__"

/* BTF's entries for the verifier are not iterators; and some iterators go through one BPF map,
 * which a script cannot name. */
static bool is_iterator(const char *type)
{
	static const char *const of_a_map[] = {"bpf_map_elem", "bpf_sk_storage_map", "sockmap"};

	for (size_t i = 0; i < ARRAY_SIZE(of_a_map); i++)
		if (!strcmp(type + strlen(PREFIX), of_a_map[i]))
			return false;
	return !strstr(type, "__safe_trusted");
}

static bool no_iterator(const struct request *req, struct attach_point *ap)
{
	const char *const *names = types_names(req->types, TAG_STRUCT, PREFIX "*"), *near;
	const char *short_names[256];
	size_t n = 0;

	for (; names && *names && n < ARRAY_SIZE(short_names); names++)
		if (is_iterator(*names))
			short_names[n++] = *names + strlen(PREFIX);
	if (!missing_place(req, ap->word_spans[1], "the kernel has no iterator %s", ap->words[1]))
		return missing_allowed(req);
	near = n ? nearest(ap->words[1], short_names, n) : NULL;
	if (near)
		diag_hint(req->diags, "did you mean iter:%s?", near);
	else
		diag_hint(req->diags, "strata -l 'iter:*' lists what this kernel has");
	return missing_allowed(req);
}

static bool iter_expand(const struct request *req, struct attach_point *ap)
{
	const char *const *names;

	if (ap->nwords == 3 && !req->listing) {
		diag(req->diags, ap->word_spans[2], DIAG_ATTACH_POINT, "an iterator cannot be pinned");
		diag_hint(req->diags, "what it prints goes through strata: run the script where its output is wanted");
		return false;
	}
	if (ap->nwords != 2)
		return form_error(req, ap, "an iterator is missing");
	names = types_names(req->types, TAG_STRUCT, arena_printf(req->arena, PREFIX "%s", ap->words[1]));
	for (; names && *names; names++) {
		const char *name = *names + strlen(PREFIX);
		struct place *p;

		if (!is_iterator(*names))
			continue;
		p = place_add(req, ap);
		p->name = arena_printf(req->arena, "iter:%s", name);
		p->func = name;
	}
	return ap->places || req->listing || no_iterator(req, ap);
}

static int iter_list(const struct request *req, const char *pattern,
	void (*found)(const char *name, void *arg), void *arg)
{
	const char *const *names = types_names(req->types, TAG_STRUCT, PREFIX "*");

	for (; names && *names; names++) {
		const char *full = arena_printf(req->arena, "iter:%s", *names + strlen(PREFIX));

		if (is_iterator(*names) && glob_match(pattern, full))
			found(full, arg);
	}
	return 0;
}

const struct provider provider_iter = {
	.name = "iter",
	.short_name = "it",
	.form = "iter:NAME",
	.help = "each existing task, file, socket..",
	.ctx = CTX_ITER,
	.prog_type = BPF_PROG_TYPE_TRACING,
	.attach_type = BPF_TRACE_ITER,
	.section = "iter",
	.kernel = true,
	.run = RUN_ITER,
	.expand = iter_expand,
	.list = iter_list,
};
