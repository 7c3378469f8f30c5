// SPDX-License-Identifier: Apache-2.0
/* rawtracepoint.c - rawtracepoint:[MODULE:]EVENT: the tracepoint's own arguments, arg0.. or by name from BTF,
 * without the record that tracefs makes of them. */
#include "probes.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/type.h"
#include "target/target.h"
#include "types/kernel.h"

static bool nothing_found(const struct request *req, const struct attach_point *ap, const char *module)
{
	const char *event = ap->words[ap->nwords - 1], *near;
	const char *const *all = target_raw_tracepoints(req->target, module, "*");
	size_t n = 0;

	while (all && all[n])
		n++;
	if (!missing_place(req, ap->span, "no raw tracepoint matches %s", event))
		return true;
	near = nearest(event, all, n);
	if (near)
		diag_hint(req->diags, "did you mean rawtracepoint:%s?", near);
	else
		diag_hint(req->diags, "strata -l 'rawtracepoint:*' lists what this kernel has");
	return missing_allowed(req);
}

/* each is a word of the context */
static const struct field *make_fields(const struct request *req, const struct kernel_function *k)
{
	const struct field *list = NULL, **last = &list;

	for (unsigned i = 0; i < k->nparams; i++) {
		const struct kernel_param *p = &k->params[i];
		struct field *to;

		if (!*p->name)
			continue;
		to = arena_new_obj(req->arena, struct field);
		*to = (struct field){.name = p->name, .type = p->type, .decl = p->decl,
			.where = FIELD_CONTEXT, .offset = 8 * i, .size = p->type->size};
		if (p->type->kind == TYPE_NONE || p->type->size > 8) {
			to->where = FIELD_NOWHERE;
			to->why = "values of its type are not supported";
		}
		*last = to;
		last = &to->next;
	}
	return list;
}

static void add_event(const struct request *req, struct attach_point *ap, const char *module,
	const char *name)
{
	struct place *p = place_add(req, ap);
	struct kernel_function k;

	p->func = arena_strdup(req->arena, name);
	p->name = arena_printf(req->arena, "rawtracepoint:%s:%s", module, name);
	p->of_others = raw_tracepoint_is_of_others(name);
	if (!req->names_only && kernel_tracepoint(req->types, module, name, req->listing, &k))
		p->fields = make_fields(req, &k);
}

static void add_events(const struct request *req, struct attach_point *ap, const char *module)
{
	const char *const *names = target_raw_tracepoints(req->target, module, ap->words[ap->nwords - 1]);

	for (; names && *names; names++)
		add_event(req, ap, module, *names);
}

/* A module's BTF is read only if the kernel itself has no such event, or the script names the module. */
static bool raw_expand(const struct request *req, struct attach_point *ap)
{
	const char *module = ap->nwords == 3 ? ap->words[1] : "vmlinux";
	const char *const *modules;

	if (ap->nwords != 2 && ap->nwords != 3)
		return form_error(req, ap, "the name of a raw tracepoint is missing");
	if (!target_has_btf(req->target)) {
		/* Without BTF the names are unknown: the kernel checks them. */
		add_event(req, ap, "vmlinux", ap->words[ap->nwords - 1]);
		return true;
	}
	if (!strchr(module, '*'))
		add_events(req, ap, module);
	if (ap->places || (ap->nwords == 3 && !strchr(module, '*')))
		return ap->places || req->listing || nothing_found(req, ap, module);
	modules = target_btf_modules(req->target, ap->nwords == 3 ? module : "*");
	for (; *modules; modules++)
		add_events(req, ap, *modules);
	return ap->places || req->listing || nothing_found(req, ap, "vmlinux");
}

static int raw_attach(struct loaded_probe *p)
{
	for (uint32_t i = 0; i < p->prog->nplaces; i++) {
		const struct place *place = probe_place(p, i);
		int r = probe_link(p, place, bpf_program__attach_raw_tracepoint(p->bpf,
			place->func));

		if (r)
			return r;
	}
	return 0;
}

static int raw_list(const struct request *req, const char *pattern,
	void (*found)(const char *name, void *arg), void *arg)
{
	const char *const *modules = target_btf_modules(req->target, "*");

	for (; *modules; modules++) {
		const char *const *names = target_raw_tracepoints(req->target, *modules, "*");

		for (; *names; names++) {
			const char *full = arena_printf(req->arena, "rawtracepoint:%s:%s", *modules, *names);

			if (glob_match(pattern, full))
				found(full, arg);
		}
	}
	return 0;
}

const struct provider provider_rawtracepoint = {
	.name = "rawtracepoint",
	.short_name = "rt",
	.form = "rawtracepoint:EVENT or :MODULE:EVENT",
	.help = "a static tracepoint of the kernel, raw arguments by the names that BTF has",
	.ctx = CTX_RAW,
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.section = "raw_tp",
	.has_args = true,
	.has_fields = true,
	.expand = raw_expand,
	.attach = raw_attach,
	.list = raw_list,
	.finite = true,
};
