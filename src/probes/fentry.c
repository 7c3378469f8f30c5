// SPDX-License-Identifier: Apache-2.0
/* fentry.c - fentry and fexit: kernel functions by BPF's trampolines, arguments by name from BTF.
 *
 * In a kernel without trampolines, kprobes at the same entries and returns replace them, with the arguments
 * where a call leaves them. */
#include "probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "model/regs.h"
#include "model/type.h"
#include "target/target.h"
#include "types/kernel.h"

extern const struct provider fentry_by_kprobe, fexit_by_kretprobe;

/* ---- arguments ---------------------------------------------------------- */

/* The number of words before an argument. A value larger than two words is in memory, and then the places of
 * the next arguments are unknown. */
struct words {
	uint32_t n;
	bool lost;
};

static bool is_in_memory(const struct type *t)
{
	return t->kind == TYPE_STRUCT || t->kind == TYPE_ARRAY;
}

/* Sets the argument's place after a call, for a kprobe. Returns NULL, or the reason why it is not available. */
static const char *place_register(const struct words *w, struct field *f)
{
	int first = regs_arg(w->n), second = f->size > 8 ? regs_arg(w->n + 1) : 0;

	if (first < 0 && !is_in_memory(f->type)) {
		f->where = FIELD_STACK;
		f->offset = regs_stack_args() + 8 * (w->n - regs_args());
		return NULL;
	}
	f->where = is_in_memory(f->type) ? FIELD_REGS : FIELD_CONTEXT;
	f->offset = (uint32_t)first;
	f->offset2 = (uint32_t)second;
	return first < 0 || second < 0 ? "a struct that is passed on the stack is not supported" : NULL;
}

static void place_field(enum ctx_kind ctx, struct words *w, struct field *f)
{
	f->where = FIELD_ARG;
	f->offset = w->n * 8;
	f->why = f->type->kind == TYPE_NONE ? "values of its type are not supported" :
		w->lost || f->size > 16 ? "it is, or follows, a large struct that is passed by value" :
		ctx == CTX_TRAMPOLINE ? NULL : place_register(w, f);
	if (f->why)
		f->where = FIELD_NOWHERE;
	w->lost |= f->size > 16 || (f->why && f->size > 8 && ctx != CTX_TRAMPOLINE);
	w->n += f->size > 8 ? 2 : 1;
}

static const struct field *make_fields(const struct request *req, enum ctx_kind ctx,
	const struct kernel_function *k)
{
	const struct field *list = NULL, **last = &list;
	struct words words = {};

	for (unsigned i = 0; i < k->nparams; i++) {
		const struct kernel_param *p = &k->params[i];
		struct field *to = arena_new_obj(req->arena, struct field);

		*to = (struct field){.name = p->name, .type = p->type, .size = p->type->size, .decl = p->decl};
		place_field(ctx, &words, to);
		if (!*p->name)
			continue;
		*last = to;
		last = &to->next;
	}
	return list;
}

/* ---- places ------------------------------------------------------------- */

static void add_place(const struct request *req, struct attach_point *ap, const char *module,
	const char *name)
{
	struct kernel_function k;
	struct place *p;

	if (!target_btf_function(req->target, module, name))
		return;
	p = place_add(req, ap);
	p->func = arena_strdup(req->arena, name);
	p->name = arena_printf(req->arena, "%s:%s:%s", ap->provider->name, module, name);
	if (req->names_only || !kernel_function(req->types, module, name, req->listing, &k))
		return;
	p->fields = make_fields(req, ap->provider->ctx, &k);
	p->ret = is_in_memory(k.ret.type) || k.ret.type->kind == TYPE_NONE ? NULL : k.ret.type;
	p->ret_decl = ap->provider->has_retval && k.ret.type->kind != TYPE_NONE ? k.ret.decl : NULL;
}

/* Adds the names in both sorted lists: BTF also has functions that cannot be traced. */
static void add_common(const struct request *req, struct attach_point *ap, const char *module,
	const char *const *a, const char *const *b)
{
	while (a && b && *a && *b) {
		int cmp = strcmp(*a, *b);

		if (!cmp)
			add_place(req, ap, module, *a);
		a += cmp <= 0;
		b += cmp >= 0;
	}
}

static bool no_function(const struct request *req, const struct attach_point *ap,
	const char *module, const char *what)
{
	const char *const *all, *near = NULL;
	size_t n = 0;

	if (!target_has_btf(req->target)) {
		diag(req->diags, ap->span, DIAG_NO_PLACE, "this kernel has no type information (BTF)");
		diag_hint(req->diags, "it was built without CONFIG_DEBUG_INFO_BTF; kprobe does "
			"without, with arg0, arg1..");
		return false;
	}
	if (*module && !target_has_module(req->target, module)) {
		missing_place(req, ap->word_spans[1], "the module %s is not loaded", module);
		return missing_allowed(req);
	}
	if (!missing_place(req, ap->word_spans[ap->nwords - 1], "%s has no function %s", module,
		what))
		return true;
	if (!strchr(what, '*') && !diags_full(req->diags)) {
		all = target_btf_functions(req->target, module, "*");
		while (all && all[n])
			n++;
		near = nearest(what, all, n);
	}
	if (near)
		diag_hint(req->diags, "did you mean %s?", near);
	else
		diag_hint(req->diags, "strata -l 'fentry:*' lists what can be probed");
	return missing_allowed(req);
}

/* Returns the provider that replaces it, or the provider itself. */
static const struct provider *stand_in(const struct request *req,
	const struct provider *provider)
{
	if (req->listing || target_feature(req->target, FEATURE_FENTRY) ||
		!target_feature(req->target, FEATURE_KPROBE))
		return provider;
	log_info("this kernel has no trampolines: kprobes stand in for %s", provider->name);
	return provider->has_retval ? &fexit_by_kretprobe : &fentry_by_kprobe;
}

static void add_functions(const struct request *req, struct attach_point *ap, const char *module,
	const char *what)
{
	if (strchr(what, '*'))
		add_common(req, ap, module, target_btf_functions(req->target, module, what),
			target_kernel_functions(req->target, module, what, true));
	else
		add_place(req, ap, module, what);
}

static bool fentry_expand(const struct request *req, struct attach_point *ap)
{
	const char *what = ap->words[ap->nwords - 1];
	const char *module = ap->nwords == 3 ? ap->words[1] : "vmlinux";
	const char *const *modules;

	if (ap->nwords != 2 && ap->nwords != 3)
		return form_error(req, ap, "a kernel function is missing");
	ap->provider = stand_in(req, ap->provider);
	modules = strchr(module, '*') ? target_btf_modules(req->target, module) :
					(const char *const[]){module, NULL};
	for (; *modules; modules++)
		add_functions(req, ap, *modules, what);
	return ap->places || req->listing || no_function(req, ap, module, what);
}

/* ---- attach ------------------------------------------------------------- */

static int fentry_attach(struct loaded_probe *p)
{
	return probe_link(p, probe_place(p, 0), bpf_program__attach_trace(p->bpf));
}

/* kprobes may replace them */
static const char *fentry_lacks(struct target *t)
{
	return target_feature(t, FEATURE_KPROBE) || target_feature(t, FEATURE_FENTRY) ? NULL :
		"this kernel has neither trampolines nor kprobes (CONFIG_DYNAMIC_FTRACE, CONFIG_KPROBES)";
}

const struct provider provider_fentry = {
	.name = "fentry",
	.short_name = "f",
	.alias = "kfunc",
	.form = "fentry:FUNCTION or :MODULE:FUNCTION",
	.help = "entry of a kernel function, arguments by name",
	.ctx = CTX_TRAMPOLINE,
	.prog_type = BPF_PROG_TYPE_TRACING,
	.attach_type = BPF_TRACE_FENTRY,
	.section = "fentry",
	.newest_first = true,
	.kernel = true,
	.has_fields = true,
	.expand = fentry_expand,
	.attach = fentry_attach,
	.finite = true,
	.lacks = fentry_lacks,
};

const struct provider provider_fexit = {
	.name = "fexit",
	.short_name = "fr",
	.alias = "kretfunc",
	.form = "fexit:FUNCTION or :MODULE:FUNCTION",
	.help = "return of a kernel function, arguments by name",
	.ctx = CTX_TRAMPOLINE,
	.prog_type = BPF_PROG_TYPE_TRACING,
	.attach_type = BPF_TRACE_FEXIT,
	.section = "fexit",
	.newest_first = true,
	.kernel = true,
	.has_fields = true,
	.has_retval = true,
	.expand = fentry_expand,
	.attach = fentry_attach,
	.finite = true,
	.lacks = fentry_lacks,
};

/* Not in the list of providers: only stand_in() returns them. */
const struct provider fentry_by_kprobe = {
	.name = "fentry",
	.form = "fentry:FUNCTION or :MODULE:FUNCTION",
	.ctx = CTX_PT_REGS,
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.section = "kprobe",
	.newest_first = true,
	.kernel = true,
	.has_fields = true,
	.expand = fentry_expand,
	.attach = kprobe_attach,
};

/* at a return the arguments are gone */
const struct provider fexit_by_kretprobe = {
	.name = "fexit",
	.form = "fexit:FUNCTION or :MODULE:FUNCTION",
	.ctx = CTX_PT_REGS,
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.section = "kretprobe",
	.kernel = true,
	.has_retval = true,
	.expand = fentry_expand,
	.attach = kretprobe_attach,
};
