// SPDX-License-Identifier: Apache-2.0
/* btf.c - types of the kernel and its modules, from BTF. */
#include "source.h"

void btf_source(struct arena *a, struct target *t, struct types *ts, struct type_source *ret)
{
	*ret = (struct type_source){};
}
