// SPDX-License-Identifier: Apache-2.0
/* cpart_btf.c - prints types of the kernel's BTF in C, for a C part that uses them by value. */
#include <bpf/btf.h>
#include <inttypes.h>
#include <string.h>

#include "cpart.h"
#include "target/target.h"

static void print_text(void *arg, const char *fmt, va_list ap)
{
	str_addvf(arg, fmt, ap);
}

static int32_t find_id(const struct btf *btf, const struct cpart_name *n)
{
	int32_t id;

	switch (n->tag) {
	case TAG_NAME:
		return btf__find_by_name_kind(btf, n->name, BTF_KIND_TYPEDEF);
	case TAG_STRUCT:
		return btf__find_by_name_kind(btf, n->name, BTF_KIND_STRUCT);
	case TAG_UNION:
		return btf__find_by_name_kind(btf, n->name, BTF_KIND_UNION);
	case TAG_ENUM:
		id = btf__find_by_name_kind(btf, n->name, BTF_KIND_ENUM);
		return id > 0 ? id : btf__find_by_name_kind(btf, n->name, BTF_KIND_ENUM64);
	}
	return -1;
}

static void print_constant(struct cpart *c, const char *name)
{
	struct constant value;

	if (types_constant(c->types, name, &value) && value.type->kind == TYPE_INT)
		str_addf(&c->btf, value.type->is_signed ? "enum { %s = %" PRId64 "L };\n" :
			"enum { %s = %" PRIu64 "UL };\n", name, value.value);
}

void cpart_print_btf(struct cpart *c)
{
	struct btf *btf = c->target ? target_btf(c->target, "vmlinux") : NULL;
	struct btf_dump *dump = btf ? btf_dump__new(btf, print_text, &c->btf, NULL) : NULL;

	str_clear(&c->btf);
	if (!dump)
		return;
	for (size_t i = 0; i < c->wanted.len; i++) {
		const struct cpart_name *n = &c->wanted.data[i];
		int32_t id = n->constant ? -1 : find_id(btf, n);

		if (n->constant)
			print_constant(c, n->name);
		else if (id > 0)
			btf_dump__dump_type(dump, (uint32_t)id);
	}
	btf_dump__free(dump);
}
