// SPDX-License-Identifier: Apache-2.0
/* test_modules.c - types, functions and raw tracepoints that only a module has, on a machine made here. */
#include <bpf/btf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/check.h"
#include "base/arena.h"
#include "target/target.h"
#include "types/kernel.h"

static const char *const dirs[] = {"/sys", "/sys/kernel", "/sys/kernel/btf"};
static const char *const files[] = {"/sys/kernel/btf/vmlinux", "/sys/kernel/btf/mod"};

static void write_btf(const char *root, const char *path, const struct btf *btf)
{
	char name[PATH_MAX];
	uint32_t size;
	const void *data = btf__raw_data(btf, &size);
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	f = fopen(name, "w");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		exit(2);
}

/* int; struct both { int a; }; struct shared; */
static struct btf *make_kernel(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);

	btf__add_struct(btf, "both", 4);
	btf__add_field(btf, "a", number, 0, 0);
	btf__add_fwd(btf, "shared", BTF_FWD_STRUCT);
	return btf;
}

/* struct shared { int x, y; }; enum own { OWN = 3 }; a function and a raw tracepoint that have them */
static struct btf *make_module(struct btf *kernel)
{
	struct btf *btf = btf__new_empty_split(kernel);
	int shared = btf__add_struct(btf, "shared", 8), pointer, none, own, proto;

	btf__add_field(btf, "x", 1, 0, 0);
	btf__add_field(btf, "y", 1, 32, 0);
	pointer = btf__add_ptr(btf, shared);
	none = btf__add_ptr(btf, 0);
	own = btf__add_enum(btf, "own", 4);
	btf__add_enum_value(btf, "OWN", 3);
	proto = btf__add_func_proto(btf, own);
	btf__add_func_param(btf, "__data", none);
	btf__add_func_param(btf, "s", pointer);
	btf__add_func(btf, "__traceiter_event", BTF_FUNC_STATIC, proto);
	btf__add_typedef(btf, "btf_trace_event", btf__add_ptr(btf, proto));
	return btf;
}

static void make_machine(const char *root)
{
	struct btf *kernel = make_kernel(), *module = make_module(kernel);
	char name[PATH_MAX];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", root, dirs[i]);
		mkdir(name, 0700);
	}
	write_btf(root, files[0], kernel);
	write_btf(root, files[1], module);
	btf__free(module);
	btf__free(kernel);
}

static void remove_machine(const char *root)
{
	char name[PATH_MAX];

	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s%s", root, files[i]);
		unlink(name);
	}
	for (int i = 3; i-- > 0;) {
		snprintf(name, sizeof(name), "%s%s", root, dirs[i]);
		rmdir(name);
	}
	rmdir(root);
}

static void test_types(struct types *ts)
{
	const struct type *t = types_find(ts, TAG_STRUCT, "shared");
	struct constant c;
	struct member m;

	CHECK(t && t->size == 8 && type_member(t, "y", &m) && m.offset == 4 && m.type->is_signed);
	t = types_find(ts, TAG_STRUCT, "both");
	CHECK(t && t->size == 4);
	CHECK(types_constant(ts, "OWN", &c) && c.value == 3 && !strcmp(c.type->integer.names->name, "enum own"));
	CHECK(!types_find(ts, TAG_STRUCT, "neither") && !types_find(ts, TAG_UNION, "shared"));
	CHECK(types_names(ts, TAG_STRUCT, "*")[0] && types_names(ts, TAG_STRUCT, "*")[1] &&
		!types_names(ts, TAG_STRUCT, "*")[2]);
}

static void test_functions(struct types *ts, struct target *t)
{
	struct kernel_function k;

	CHECK(!kernel_function(ts, "vmlinux", "__traceiter_event", false, &k));
	CHECK(kernel_function(ts, "mod", "__traceiter_event", true, &k) && k.nparams == 2);
	CHECK(!strcmp(k.params[1].decl, "struct shared * s") && !strcmp(k.ret.decl, "enum own retval"));
	CHECK(!target_raw_tracepoints(t, "vmlinux", "*")[0]);
	CHECK(!strcmp(target_raw_tracepoints(t, "mod", "ev*")[0], "event"));
	CHECK(kernel_tracepoint(ts, "mod", "event", false, &k) && k.nparams == 1);
	CHECK(k.params[0].type->pointer.to == types_find(ts, TAG_STRUCT, "shared"));
	CHECK(!kernel_tracepoint(ts, "none", "event", false, &k));
}

int main(void)
{
	char root[] = "/tmp/strata-types-XXXXXX";
	struct arena *a = arena_new();
	struct target *target;
	struct types *ts;

	if (!mkdtemp(root))
		return 2;
	make_machine(root);
	target = target_open(root);
	ts = types_new(a, target);
	test_types(ts);
	test_functions(ts, target);
	types_close(ts);
	target_close(target);
	arena_free(a);
	remove_machine(root);
	return failed;
}
