// SPDX-License-Identifier: Apache-2.0
/* kprobe.c - kprobe and kretprobe: functions of the kernel.
 *
 * If the kernel supports it, all places are in one multi link, by name; else each is a perf event of its own.
 * A name that the kernel refuses is found by halving and skipped. */
#include "probes.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/number.h"
#include "base/owner.h"
#include "base/why.h"
#include "target/target.h"

/* enum bpf_attach_type of Linux 5.18; older headers lack it. */
enum { TRACE_KPROBE_MULTI = 42 };

/* ---- places ------------------------------------------------------------- */

/* Returns the number in "fn+16", and its + in *ret_plus; else 0. */
static uint64_t offset_of(const char *what, const char **ret_plus)
{
	const char *plus = strrchr(what, '+');
	uint64_t n;

	*ret_plus = plus && number_is(plus + 1, &n) ? plus : NULL;
	return *ret_plus ? n : 0;
}

static void add_place(const struct request *req, struct attach_point *ap, const char *name,
	uint64_t offset)
{
	struct place *p = place_add(req, ap);
	const char *module = ap->nwords == 3 && !strchr(ap->words[1], '*') ?
		arena_printf(req->arena, "%s:", ap->words[1]) : "";

	p->func = arena_strdup(req->arena, name);
	p->offset = offset;
	p->alone = offset != 0;
	p->name = offset ? arena_printf(req->arena, "%s:%s%s+%llu", ap->provider->name, module,
				   name, (unsigned long long)offset) :
			   arena_printf(req->arena, "%s:%s%s", ap->provider->name, module, name);
}

/* kprobe:0xffffffff81234567: any instruction of the kernel. The kernel cannot know whether an instruction
 * begins there, so this needs --unsafe. */
static bool add_address(const struct request *req, struct attach_point *ap, const char *text, uint64_t addr)
{
	const char *name = text, *module;
	uint64_t offset = 0;
	struct place *p;

	if (ap->provider->has_retval)
		return form_error(req, ap, "a return probe takes no address");
	if (!req->cmd.unsafe && !req->listing) {
		diag(req->diags, ap->word_spans[ap->nwords - 1], DIAG_UNSAFE,
			"a kprobe at an address may crash the kernel if no instruction begins there");
		diag_hint(req->diags, "--unsafe allows it");
		return false;
	}
	target_ksym(req->target, addr, &name, &offset, &module);
	p = place_add(req, ap);
	p->func = arena_strdup(req->arena, name);
	p->offset = addr;
	p->alone = p->by_address = true;
	p->name = arena_printf(req->arena, "%s:%s", ap->provider->name, text);
	return true;
}

static bool no_function(const struct request *req, const struct attach_point *ap,
	const char *module, const char *what)
{
	const char *const *all, *near = NULL;
	size_t n = 0;

	if (*module && !target_has_module(req->target, module)) {
		missing_place(req, ap->word_spans[1], "the module %s is not loaded", module);
		return missing_allowed(req);
	}
	if (!missing_place(req, ap->word_spans[ap->nwords - 1], *module ?
		"%s%s has no function %s" : "%s%shas no function %s", *module ? "the module " :
		"this kernel ", module, what))
		return true;
	if (!strchr(what, '*') && !diags_full(req->diags)) {
		all = target_all_functions(req->target);
		while (all && all[n])
			n++;
		near = nearest(what, all, n);
	}
	if (near)
		diag_hint(req->diags, "did you mean %s?", near);
	else
		diag_hint(req->diags, "strata -l 'kprobe:*' lists what can be probed");
	return missing_allowed(req);
}

static bool kprobe_expand(const struct request *req, struct attach_point *ap)
{
	const char *what = ap->words[ap->nwords - 1], *plus;
	const char *module = ap->nwords == 3 ? ap->words[1] : "";
	uint64_t offset = offset_of(what, &plus);
	const char *const *names;
	uint64_t addr;

	if (ap->nwords != 2 && ap->nwords != 3)
		return form_error(req, ap, "a kernel function is missing");
	if (plus && ap->provider->has_retval)
		return form_error(req, ap, "a return probe takes no offset");
	if (ap->nwords == 2 && number_is(what, &addr))
		return add_address(req, ap, what, addr);
	if (plus)
		what = arena_strndup(req->arena, what, plus - what);
	names = target_kernel_functions(req->target, module, what, strchr(what, '*') != NULL);
	for (; names && *names; names++)
		add_place(req, ap, *names, offset);
	return ap->places || req->listing || no_function(req, ap, module, what);
}

/* ---- attach ------------------------------------------------------------- */

struct batch {
	struct loaded_probe *p;
	const char **names;
	const uint64_t *cookies;
	bool ret;
};

static struct bpf_link *link_range(const void *batch, size_t from, size_t n)
{
	const struct batch *b = batch;
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts,
		.syms = b->names + from,
		.cookies = (const __u64 *)b->cookies + from,
		.cnt = n,
		.retprobe = b->ret);

	return bpf_program__attach_kprobe_multi_opts(b->p->bpf, NULL, &opts);
}

static struct bpf_link *link_single(const void *batch, size_t i, size_t n)
{
	const struct batch *b = batch;
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .bpf_cookie = b->cookies[i],
		.offset = probe_place(b->p, i)->offset, .retprobe = b->ret);

	return bpf_program__attach_kprobe_opts(b->p->bpf, probe_place(b->p, i)->by_address ? NULL : b->names[i], &opts);
}

static int attach_singles(const struct batch *b, const struct place *const *places)
{
	int r = 0;

	for (size_t i = 0; i < b->p->prog->nplaces && !r; i++)
		r = b->p->prog->nplaces == 1 ?
			probe_link(b->p, places[i], link_single(b, i, 1)) :
			probe_link_halved(b->p, places, link_single, b, i, 1);
	return r;
}

static int no_kprobes(const struct loaded_probe *p)
{
	log_error("cannot attach to %s: this kernel has no kprobes", probe_place(p, 0)->name);
	log_hint("it was built without CONFIG_KPROBES; tracepoints and uprobes do without");
	return -EOPNOTSUPP;
}

static int attach_all(struct loaded_probe *p, bool ret)
{
	uint32_t n = p->prog->nplaces;
	_cleanup_(freep) const char **names = calloc(n, sizeof(*names));
	_cleanup_(freep) uint64_t *cookies = calloc(n, sizeof(*cookies));
	_cleanup_(freep) const struct place **places = calloc(n, sizeof(*places));
	struct batch b = {.p = p, .names = names, .cookies = cookies, .ret = ret};
	unsigned skipped = p->links->skipped;
	int r;

	if (!target_feature(p->target, FEATURE_KPROBE))
		return no_kprobes(p);
	if (!names || !cookies || !places)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		places[i] = probe_place(p, i);
		names[i] = places[i]->func;
		cookies[i] = probe_cookie(p, i);
	}
	r = probe_is_multi(p->target, p->image, p->prog) ?
		probe_link_halved(p, places, link_range, &b, 0, n) : attach_singles(&b, places);
	if (!r && p->links->skipped - skipped == n) {
		log_error("cannot attach to %s: the kernel does not let it be probed",
			places[0]->name);
		return -EOPNOTSUPP;
	}
	return r;
}

int kprobe_attach(struct loaded_probe *p)
{
	return attach_all(p, false);
}

int kretprobe_attach(struct loaded_probe *p)
{
	return attach_all(p, true);
}

/* ---- list --------------------------------------------------------------- */

static int kprobe_list(const struct request *req, const char *pattern,
	void (*found)(const char *name, void *arg), void *arg)
{
	return list_kernel_functions(req, "kprobe:",
		target_kernel_functions(req->target, "", "*", true), pattern, found, arg);
}

static const char *kprobe_lacks(struct target *t)
{
	return target_feature(t, FEATURE_KPROBE) ? NULL :
		"this kernel has no kprobes: it was built without CONFIG_KPROBES";
}

const struct provider provider_kprobe = {
	.name = "kprobe",
	.short_name = "k",
	.form = "kprobe:FUNCTION, :MODULE:FUNCTION, :FUNCTION+OFFSET or :ADDRESS",
	.help = "entry of a kernel function",
	.ctx = CTX_PT_REGS,
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.multi_type = TRACE_KPROBE_MULTI,
	.multi_feature = FEATURE_KPROBE_MULTI,
	.section = "kprobe",
	.newest_first = true,
	.kernel = true,
	.has_args = true,
	.expand = kprobe_expand,
	.attach = kprobe_attach,
	.list = kprobe_list,
	.finite = true,
	.lacks = kprobe_lacks,
};

const struct provider provider_kretprobe = {
	.name = "kretprobe",
	.short_name = "kr",
	.form = "kretprobe:FUNCTION or :MODULE:FUNCTION",
	.help = "return of a kernel function",
	.ctx = CTX_PT_REGS,
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.multi_type = TRACE_KPROBE_MULTI,
	.multi_feature = FEATURE_KPROBE_MULTI,
	.section = "kretprobe",
	.multi_newest_first = 6 << 16 | 14 << 8, /* fprobe on the function graph */
	.kernel = true,
	.has_retval = true,
	.expand = kprobe_expand,
	.attach = kretprobe_attach,
	.finite = true,
	.lacks = kprobe_lacks,
};
