// SPDX-License-Identifier: Apache-2.0
/* tracepoint.c - tracepoint:CATEGORY:EVENT, by tracefs. args.NAME are the fields of the event's format file;
 * that record is the program's context. */
#include "probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"
#include "target/target.h"

/* ---- expand ------------------------------------------------------------- */

static void suggest_event(const struct request *req, const struct attach_point *ap)
{
	const char *const *all = target_events(req->target, ap->words[1], "*");
	const char *names[4096], *near;
	size_t n = 0;

	for (; all && all[n] && n < 4096; n++)
		names[n] = strchr(all[n], ':') + 1;
	near = nearest(ap->words[2], names, n);
	if (near)
		diag_hint(req->diags, "did you mean tracepoint:%s:%s?", ap->words[1], near);
	else
		diag_hint(req->diags, "strata -l 'tracepoint:*' lists what this kernel has");
}

static const char *no_tracefs(const struct request *req)
{
	return target_tracefs_is_closed(req->target) ?
		"tracepoints cannot be read: /sys/kernel/tracing is closed to this user" :
		"tracepoints cannot be read: tracefs is not mounted";
}

static const char *tracefs_hint(const struct request *req)
{
	return target_tracefs_is_closed(req->target) ?
		"run strata as root (sudo strata ...), or give it CAP_DAC_READ_SEARCH beside "
		"CAP_BPF and CAP_PERFMON; rawtracepoint:EVENT does without" :
		"sudo mount -t tracefs tracefs /sys/kernel/tracing; rawtracepoint:EVENT does "
		"without";
}

static bool nothing_found(const struct request *req, const struct attach_point *ap)
{
	if (!target_tracefs(req->target)) {
		diag(req->diags, ap->span, DIAG_NO_PLACE, "%s", no_tracefs(req));
		diag_hint(req->diags, "%s", tracefs_hint(req));
		return false;
	}
	if (req->listing)
		return true;
	if (missing_place(req, ap->span, "no tracepoint matches %s:%s", ap->words[1],
		ap->words[2]))
		suggest_event(req, ap);
	return missing_allowed(req);
}

static bool add_event(const struct request *req, struct attach_point *ap, const char *name)
{
	const char *event = strchr(name, ':') + 1;
	char *category = arena_strndup(req->arena, name, event - 1 - name);
	struct trace_event e = {};
	struct place *p;

	if (!req->names_only && target_event(req->target, category, event, &e))
		return false;
	p = place_add(req, ap);
	p->name = arena_printf(req->arena, "tracepoint:%s", name);
	p->path = category;
	p->func = arena_strdup(req->arena, event);
	p->config = e.id;
	p->of_others = tracepoint_is_of_others(category);
	if (!req->names_only)
		p->fields = tracepoint_fields(req, &e);
	return true;
}

static bool tracepoint_expand(const struct request *req, struct attach_point *ap)
{
	const char *const *names;

	if (ap->nwords != 3 && !(ap->nwords == 2 && req->listing))
		return form_error(req, ap, "a tracepoint needs a category and a name");
	names = target_events(req->target, ap->words[1], ap->nwords == 3 ? ap->words[2] : "*");
	for (; names && *names; names++)
		add_event(req, ap, *names);
	return ap->places || nothing_found(req, ap);
}

/* ---- attach ------------------------------------------------------------- */

static int tracepoint_attach(struct loaded_probe *p)
{
	for (uint32_t i = 0; i < p->prog->nplaces; i++) {
		const struct place *place = probe_place(p, i);
		LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = probe_cookie(p, i));
		int r = probe_link(p, place, bpf_program__attach_tracepoint_opts(p->bpf,
			place->path, place->func, &opts));

		if (r)
			return r;
	}
	return 0;
}

static int tracepoint_list(const struct request *req, const char *pattern,
	void (*found)(const char *name, void *arg), void *arg)
{
	const char *const *names = target_events(req->target, "*", "*");

	if (!target_tracefs(req->target)) {
		log_warn("%s", no_tracefs(req));
		log_hint("%s", tracefs_hint(req));
	}
	for (; names && *names; names++) {
		const char *full = arena_printf(req->arena, "tracepoint:%s", *names);

		if (glob_match(pattern, full))
			found(full, arg);
	}
	return 0;
}

const struct provider provider_tracepoint = {
	.name = "tracepoint",
	.short_name = "t",
	.form = "tracepoint:CATEGORY:EVENT",
	.help = "a static tracepoint of the kernel, arguments by name",
	.ctx = CTX_TRACEPOINT,
	.prog_type = BPF_PROG_TYPE_TRACEPOINT,
	.section = "tracepoint",
	.has_fields = true,
	.expand = tracepoint_expand,
	.attach = tracepoint_attach,
	.list = tracepoint_list,
	.finite = true,
};
