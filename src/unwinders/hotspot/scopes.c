// SPDX-License-Identifier: Apache-2.0
/* scopes.c - the methods that a pc of compiled code is in: those that were inlined there, and the compiled one.
 *
 * An nmethod has PcDescs, sorted by pc, each with the place of a scope: the place of its caller's scope (0: none), the
 * number of its Method in the metadata, and 1 + bci. (src/hotspot/share/code/pcDesc.hpp, scopeDesc.cpp, debugInfo.hpp,
 * nmethod.hpp of JDK 8.0 to 26.0) */
#include <string.h>

#include "hotspot.h"

#define PCS_MAX (1u << 20)

struct debug_info {
	uint64_t code;     /* address of the first instruction */
	uint64_t pcs, npcs;
	uint64_t scopes, metadata;
};

static bool offset_from(const struct hotspot_vm *vm, uint64_t blob, int32_t field, uint64_t base, uint64_t *ret)
{
	uint32_t v;

	if (field < 0 || !hotspot_int(vm, blob, field, &v))
		return false;
	*ret = base + v;
	return true;
}

static bool code_start(const struct hotspot_vm *vm, uint64_t blob, uint64_t *ret)
{
	const struct hotspot_fields *f = &vm->layout->at;

	return f->code_begin >= 0 ? hotspot_word(vm, blob, f->code_begin, ret) :
		offset_from(vm, blob, f->code_offset, blob, ret);
}

/* Since 23, apart from the code. */
static bool immutable_info(const struct hotspot_vm *vm, uint64_t blob, struct debug_info *d)
{
	const struct hotspot_fields *f = &vm->layout->at;
	uint64_t data, end;
	uint32_t offset;

	if (!hotspot_word(vm, blob, f->immutable_data, &data) || !offset_from(vm, blob, f->pcs_offset, data, &d->pcs) ||
		!offset_from(vm, blob, f->scopes_offset, data, &d->scopes))
		return false;
	d->npcs = (d->scopes - d->pcs) / (uint64_t)f->pc_size;
	if (f->mutable_data >= 0) /* since 25 */
		return hotspot_word(vm, blob, f->mutable_data, &data) &&
		       offset_from(vm, blob, f->relocation_size, data, &d->metadata);
	if (!offset_from(vm, blob, f->data_offset, blob, &end) || f->metadata_offset < 0 ||
		!hotspot_int(vm, blob, f->metadata_offset, &offset))
		return false;
	d->metadata = end + (f->metadata_is_16 ? offset & 0xffff : offset);
	return true;
}

static bool debug_info(const struct hotspot_vm *vm, uint64_t blob, struct debug_info *d)
{
	const struct hotspot_fields *f = &vm->layout->at;
	uint64_t end;

	if (f->pc_size <= 0 || f->pc_offset < 0 || f->pc_scope < 0 || !code_start(vm, blob, &d->code))
		return false;
	if (f->immutable_data >= 0)
		return immutable_info(vm, blob, d);
	if (!offset_from(vm, blob, f->pcs_offset, blob, &d->pcs) ||
		!offset_from(vm, blob, f->dependencies_offset, blob, &end) ||
		!offset_from(vm, blob, f->metadata_offset, blob, &d->metadata))
		return false;
	d->npcs = (end - d->pcs) / (uint64_t)f->pc_size;
	return f->scopes_begin >= 0 ? hotspot_word(vm, blob, f->scopes_begin, &d->scopes) :
		offset_from(vm, blob, f->scopes_offset, blob, &d->scopes);
}

/* Finds the first PcDesc that is not before pc: that of the call, or of the next place with debug information. */
static bool scope_at(const struct hotspot_vm *vm, const struct debug_info *d, uint64_t pc, uint32_t *ret)
{
	const struct hotspot_fields *f = &vm->layout->at;
	uint64_t lo = 0, hi = d->npcs;
	uint32_t at;

	if (hi > PCS_MAX)
		return false;
	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;

		if (!hotspot_int(vm, d->pcs + mid * (uint64_t)f->pc_size, f->pc_offset, &at))
			return false;
		if ((int64_t)(int32_t)at < (int64_t)(pc - d->code))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < d->npcs && hotspot_int(vm, d->pcs + lo * (uint64_t)f->pc_size, f->pc_scope, ret) && *ret;
}

static bool read_scope(const struct hotspot_vm *vm, const struct debug_info *d, uint32_t at, uint32_t ret[3])
{
	uint8_t bytes[15];
	size_t n = sizeof(bytes), pos = 0;

	while (n && vm->memory.read(vm->memory.arg, d->scopes + at, bytes, n))
		n--;
	for (int i = 0; i < 3; i++) {
		size_t used = hotspot_unsigned5(bytes + pos, n - pos, hotspot_base(vm->layout), &ret[i]);

		if (!used)
			return false;
		pos += used;
	}
	return true;
}

size_t hotspot_scopes(const struct hotspot_vm *vm, uint64_t blob, uint64_t pc, struct hotspot_scope *ret, size_t max)
{
	struct debug_info d;
	uint32_t at, scope[3];
	size_t n = 0;

	if (!debug_info(vm, blob, &d) || !scope_at(vm, &d, pc, &at))
		return 0;
	do {
		if (!read_scope(vm, &d, at, scope) || !scope[1] ||
			!hotspot_word(vm, d.metadata, 8ll * (scope[1] - 1), &ret[n].method))
			return 0;
		ret[n].bci = (int32_t)scope[2] - 1;
		n++;
		at = scope[0];
	} while (at && n < max);
	return n;
}
