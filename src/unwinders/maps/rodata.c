// SPDX-License-Identifier: Apache-2.0
/* rodata.c - finds a variable in .rodata, by the object's own types. */
#include "rodata.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>

void *rodata_find(struct bpf_object *obj, const char *name, size_t size)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, ".rodata");
	const struct btf *btf = bpf_object__btf(obj);
	int id = btf ? btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC) : -1;
	const struct btf_type *sec = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	const struct btf_var_secinfo *v = sec ? btf_var_secinfos(sec) : NULL;
	size_t size_of_data = 0;
	char *data;

	/* The map's name is ".rodata" after the object's name. */
	if (!m)
		bpf_object__for_each_map(m, obj)
			if (strstr(bpf_map__name(m), ".rodata"))
				break;
	data = m ? bpf_map__initial_value(m, &size_of_data) : NULL;
	for (int i = 0; data && sec && i < btf_vlen(sec); i++, v++) {
		const struct btf_type *var = btf__type_by_id(btf, v->type);

		if (!strcmp(btf__name_by_offset(btf, var->name_off), name) && v->size >= size &&
			v->offset + size <= size_of_data)
			return data + v->offset;
	}
	return NULL;
}
