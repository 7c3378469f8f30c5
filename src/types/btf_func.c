// SPDX-License-Identifier: Apache-2.0
/* btf_func.c - the kernel's functions and tracepoints, from BTF. */
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "btf.h"
#include "kernel.h"
#include "target/target.h"

static struct kernel_param param_of(struct btf_file *f, uint32_t id, const char *name, bool decl)
{
	struct kernel_param p = {.name = name, .type = btf_make(f, id)};
	struct str text = {};

	if (decl) {
		btf_declare(f, id, name, &text);
		p.decl = arena_strdup(f->all->arena, str_text(&text));
	}
	str_done(&text);
	return p;
}

/* Leaves out the first `skip` parameters. */
static bool read_proto(struct btf_file *f, uint32_t id, unsigned skip, bool decl, struct kernel_function *ret)
{
	const struct btf_type *t = btf__type_by_id(f->btf, id);
	struct kernel_param *list;

	if (!t || !btf_is_func_proto(t))
		return false;
	list = arena_new_array(f->all->arena, struct kernel_param, btf_vlen(t) + 1);
	*ret = (struct kernel_function){.params = list, .ret = param_of(f, t->type, "retval", decl)};
	for (uint32_t i = skip; i < btf_vlen(t); i++) {
		const struct btf_param *p = &btf_params(t)[i];
		const char *name = btf__name_by_offset(f->btf, p->name_off);

		if (!p->type && i + 1 == btf_vlen(t)) /* "..." */
			break;
		list[ret->nparams++] = param_of(f, p->type, name ? name : "", decl);
	}
	return true;
}

static struct btf_file *file_of(struct btf_types *all, const char *module)
{
	struct btf_file *f = all ? btf_kernel(all) : NULL;

	while (f && *module && strcmp(f->name, module) != 0)
		f = btf_next(f);
	return f;
}

static bool read_function(struct types *ts, const char *module, const char *name, unsigned skip, bool decl,
	struct kernel_function *ret)
{
	struct btf_types *all = types_kernel(ts);
	struct btf_file *f = file_of(all, module);
	uint32_t id = f ? target_btf_function(all->target, module, name) : 0;
	const struct btf_type *t = id ? btf__type_by_id(f->btf, id) : NULL;

	return t && read_proto(f, t->type, skip, decl, ret);
}

bool kernel_function(struct types *ts, const char *module, const char *name, bool decl,
	struct kernel_function *ret)
{
	return read_function(ts, module, name, 0, decl, ret);
}

/* ---- tracepoints -------------------------------------------------------- */

/* The names of the parameters come from the kernel's functions for the event: __traceiter_EVENT
 * (include/linux/tracepoint.h, since 5.10), or __bpf_trace_EVENT (include/trace/bpf_probe.h), which exists
 * for the first event of a class. The verifier uses the typedef btf_trace_EVENT, which only has types. */
bool kernel_tracepoint(struct types *ts, const char *module, const char *event, bool decl,
	struct kernel_function *ret)
{
	for (int i = 0; i < 2; i++) {
		char name[256];

		snprintf(name, sizeof(name), i ? "__bpf_trace_%s" : "__traceiter_%s", event);
		if (read_function(ts, module, name, 1, decl, ret))
			return true;
	}
	return false;
}
