// SPDX-License-Identifier: Apache-2.0
/* path.c - path(): the path of a kernel file, made by bpf/lib/path.bpf.c. */
#include <linux/bpf.h>
#include <stdarg.h>
#include <string.h>

#include "builtins.h"

#include "bpf/lib/path.h"
#include "model/request.h"
#include "types/types.h"

struct path_layout {
	struct path_offsets off;
	uint32_t mnt, dentry; /* offsets in struct path */
	uint32_t fs, root;    /* offsets in struct task_struct and fs_struct */
};

/* Adds up the offsets of nested members, a list that ends with NULL. Returns -1 if one does not exist. */
static int64_t offset_of(struct types *types, const char *strct, ...)
{
	const struct type *t = types ? types_find(types, TAG_STRUCT, strct) : NULL;
	int64_t at = 0;
	const char *name;
	struct member m;
	va_list ap;

	va_start(ap, strct);
	while (at >= 0 && (name = va_arg(ap, const char *))) {
		if (!t || t->kind != TYPE_STRUCT || !type_member(types_complete(types, t), name, &m)) {
			at = -1;
			break;
		}
		at += m.offset;
		t = m.type;
	}
	va_end(ap);
	return at;
}

static bool find_layout(struct types *types, struct path_layout *l)
{
	int64_t at[] = {
		offset_of(types, "dentry", "d_parent", NULL), offset_of(types, "dentry", "d_name", "name", NULL),
		offset_of(types, "dentry", "d_name", "len", NULL), offset_of(types, "vfsmount", "mnt_root", NULL),
		offset_of(types, "mount", "mnt", NULL), offset_of(types, "mount", "mnt_parent", NULL),
		offset_of(types, "mount", "mnt_mountpoint", NULL), offset_of(types, "path", "mnt", NULL),
		offset_of(types, "path", "dentry", NULL), offset_of(types, "task_struct", "fs", NULL),
		offset_of(types, "fs_struct", "root", NULL),
	};

	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		if (at[i] < 0)
			return false;
	l->off = (struct path_offsets){
		.d_parent = at[0], .d_name = at[1], .d_len = at[2], .mnt_root = at[3],
		.mnt = at[4], .mnt_parent = at[5], .mnt_mountpoint = at[6],
	};
	l->mnt = at[7];
	l->dentry = at[8];
	l->fs = at[9];
	l->root = at[10];
	return true;
}

static bool is_path(const struct type *t)
{
	if (t->kind == TYPE_POINTER)
		t = t->pointer.to;
	return t->kind == TYPE_STRUCT && !strcmp(composite_of(t)->name, "struct path");
}

static const struct type *check_path(struct check *c, struct expr *call)
{
	struct expr *arg = call_arg(call, 0), *size = call_arg(call, 1);
	struct path_layout *l = arena_new_obj(check_arena(c), struct path_layout);
	int64_t n = (int64_t)check_request(c)->settings.max_strlen;

	if (!is_path(arg->type))
		return check_fail(c, arg->span, DIAG_ARG_TYPE, "path() takes a struct path, or a pointer to one, "
			"not %s", type_name(check_arena(c), arg->type));
	if (size && expr_is_const(size, &n) && (n < 1 || n > PATH_TEXT))
		return check_fail(c, size->span, DIAG_RANGE, "a path has 1 to %d bytes, not %lld", PATH_TEXT,
			(long long)n);
	if (!find_layout(check_request(c)->types, l))
		return check_fail(c, call->span, DIAG_CONTEXT, "this kernel has no type information (BTF), "
			"which path() needs");
	call->call.data = l;
	return type_string(check_arena(c), (uint32_t)(n < PATH_TEXT ? n + 1 : PATH_TEXT));
}

/* Reads the two words of a struct path at an address and writes them into the request. */
static void put_path(struct gen *g, const struct path_layout *l, struct ir *addr, struct ir *req, uint32_t at)
{
	gen_read(g, SPACE_KERNEL, false, ir_offset(g->ir, req, at), ir_int(g->ir, 8),
		ir_binary(g->ir, IR_ADD, addr, gen_kernel_offset(g, "struct path", "mnt", l->mnt)));
	gen_read(g, SPACE_KERNEL, false, ir_offset(g->ir, req, at + 8), ir_int(g->ir, 8),
		ir_binary(g->ir, IR_ADD, addr, gen_kernel_offset(g, "struct path", "dentry", l->dentry)));
}

static void put_root(struct gen *g, const struct path_layout *l, struct ir *req)
{
	struct ir *slot = gen_tmp(g, 8), *task = gen_call(g, BPF_FUNC_get_current_task, 0);

	gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, 8),
		ir_binary(g->ir, IR_ADD, task, gen_kernel_offset(g, "struct task_struct", "fs", l->fs)));
	put_path(g, l, ir_binary(g->ir, IR_ADD, ir_load(g->ir, slot, 0, 8, false),
		gen_kernel_offset(g, "struct fs_struct", "root", l->root)), req, offsetof(struct path_req, root_mnt));
}

#define OFFSET(root, path, member) {root, path, offsetof(struct path_offsets, member), l->off.member}

static void put_offsets(struct gen *g, const struct path_layout *l, struct ir *req)
{
	const struct {
		const char *root, *path;
		uint32_t at, offset;
	} all[] = {
		OFFSET("struct dentry", "d_parent", d_parent), OFFSET("struct dentry", "d_name.name", d_name),
		OFFSET("struct dentry", "d_name.len", d_len), OFFSET("struct vfsmount", "mnt_root", mnt_root),
		OFFSET("struct mount", "mnt", mnt), OFFSET("struct mount", "mnt_parent", mnt_parent),
		OFFSET("struct mount", "mnt_mountpoint", mnt_mountpoint),
	};
	uint64_t words[2];

	memcpy(words, &l->off, sizeof(words));
	for (unsigned i = 0; i < 2; i++)
		ir_store(g->ir, req, offsetof(struct path_req, off) + 8 * i, 8, ir_int(g->ir, words[i]));
	for (size_t i = 0; g->opt->facts && i < ARRAY_SIZE(all); i++)
		ir_store(g->ir, req, offsetof(struct path_req, off) + all[i].at, sizeof(l->off.d_parent),
			gen_kernel_offset(g, all[i].root, all[i].path, all[i].offset));
}

static struct ir *gen_path(struct gen *g, struct expr *call, struct ir *into)
{
	static const char *const params[] = {"path_req"};
	static const uint32_t sizes[] = {sizeof(struct path_req)};
	const struct path_layout *l = call->call.data;
	struct expr *arg = call_arg(call, 0);
	uint32_t size = call->type->size;
	struct ir *path = gen_value(g, arg), *req, *at, *dst = into ? into : gen_mem(g, size);

	if (g->opt->no_loops)
		diag(g->opt->diags, call->span, DIAG_CONTEXT, "path() needs bpf_loop(), which the kernel has from "
			"Linux 5.17 on");
	req = gen_mem(g, sizeof(struct path_req));
	if (arg->type->kind == TYPE_POINTER) {
		put_path(g, l, path, req, offsetof(struct path_req, mnt));
	} else {
		gen_fixed(g, arg->type);
		ir_store(g->ir, req, offsetof(struct path_req, mnt), 8, ir_load(g->ir, path, l->mnt, 8, false));
		ir_store(g->ir, req, offsetof(struct path_req, dentry), 8, ir_load(g->ir, path, l->dentry, 8, false));
	}
	put_root(g, l, req);
	put_offsets(g, l, req);
	g->img->paths = true;
	at = gen_index(g, gen_library(g, "path_text", params, sizes, &req, 1), PATH_TEXT + 1);
	gen_zero(g, dst, size);
	gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, ir_int(g->ir, size),
		ir_index(g->ir, ir_offset(g->ir, req, offsetof(struct path_req, text)), at));
	return dst;
}

const struct builtin builtins_path[] = {
	{
		.name = "path",
		.sig = "any [literal] -> special",
		.help = "the path of a kernel file (struct path), as seen from the root directory of the process",
		.check = check_path,
		.gen = gen_path,
	},
	BUILTINS_END,
};
