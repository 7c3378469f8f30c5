// SPDX-License-Identifier: Apache-2.0
/* scopes.c - the methods that a pc of compiled code is in: those that were inlined there, and the compiled one.
 *
 * An nmethod has PcDescs, sorted by pc, each with the place of a scope: the place of its caller's scope (0: none), the
 * number of its Method in the metadata, and 1 + bci. (src/hotspot/share/code/pcDesc.hpp, scopeDesc.cpp, debugInfo.hpp,
 * nmethod.hpp of JDK 8.0 to 26.0) */
#include <string.h>

#include "hotspot.h"
#include "target/code.h"

#define PCS_MAX (1u << 20)
#define FOLLOW_MAX   128 /* instructions */
#define FOLLOW_BYTES 256

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

static bool pc_at(const struct hotspot_vm *vm, const struct debug_info *d, uint64_t i, int64_t *ret)
{
	const struct hotspot_fields *f = &vm->layout->at;
	uint32_t at;

	if (i >= d->npcs || !hotspot_int(vm, d->pcs + i * (uint64_t)f->pc_size, f->pc_offset, &at))
		return false;
	*ret = (int32_t)at;
	return true;
}

/* Finds the first PcDesc that is not before pc: that of the call, or of the next place with debug information. */
static bool first_from(const struct hotspot_vm *vm, const struct debug_info *d, uint64_t pc, uint64_t *ret)
{
	uint64_t lo = 0, hi = d->npcs;
	int64_t at;

	if (hi > PCS_MAX)
		return false;
	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;

		if (!pc_at(vm, d, mid, &at))
			return false;
		if (at < (int64_t)(pc - d->code))
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret = lo;
	return lo < d->npcs;
}

/* Code from an interrupted position on. */
struct ahead {
	uint8_t bytes[FOLLOW_BYTES];
	uint64_t at;
	size_t n;
};

static bool read_ahead(const struct hotspot_vm *vm, uint64_t pc, struct ahead *a)
{
	a->at = pc;
	for (a->n = sizeof(a->bytes); a->n >= CODE_LONGEST; a->n /= 2)
		if (!vm->memory.read(vm->memory.arg, pc, a->bytes, a->n))
			return true;
	return false;
}

/* Follows the code from an interrupted pc to the first place with debug information. With `loops`, it also follows
 * backward branches. Returns false if the method returns, or jumps out of its code, before it reaches such a place. */
static bool reaches(const struct hotspot_vm *vm, const struct debug_info *d, uint64_t pc, bool loops, uint64_t *i)
{
	struct code_insn insn;
	struct ahead a;
	int64_t at = 0;

	if (!vm->code || !read_ahead(vm, pc, &a) || !pc_at(vm, d, *i, &at))
		return true;
	for (int n = 0; n < FOLLOW_MAX; n++) {
		if ((int64_t)(pc - d->code) >= at)
			return true;
		if (pc - a.at > a.n - CODE_LONGEST && !read_ahead(vm, pc, &a))
			return true;
		if (!code_decode(vm->code, a.bytes + (pc - a.at), a.n - (pc - a.at), pc, &insn))
			return true;
		pc += insn.size;
		if (insn.flow == CODE_RETURN)
			return false;
		if (insn.flow == CODE_JUMP_INDIRECT || insn.flow == CODE_STOP)
			return true;
		if (insn.flow != CODE_JUMP && !(loops && insn.flow == CODE_BRANCH && insn.target < pc))
			continue;
		pc = insn.target;
		if (pc < d->code || pc - d->code > INT32_MAX || !first_from(vm, d, pc, i) || !pc_at(vm, d, *i, &at))
			return false;
		if (!read_ahead(vm, pc, &a))
			return true;
	}
	return true;
}

/* Finds the scope at pc. *ret_outermost: only the outermost scope is that of pc. */
static bool scope_at(const struct hotspot_vm *vm, const struct debug_info *d, uint64_t pc, bool exact, uint32_t *ret,
	bool *ret_outermost)
{
	const struct hotspot_fields *f = &vm->layout->at;
	uint64_t i, first;

	*ret_outermost = false;
	if (!first_from(vm, d, pc, &i))
		return false;
	first = i;
	if (exact && !reaches(vm, d, pc, false, &i)) {
		i = first;
		if (!reaches(vm, d, pc, true, &i)) {
			/* The end of the method: it is after its calls, in no inlined one. The place before it has
			 * its line. */
			i = first > 1 ? first - 1 : first; /* the first PcDesc is before all code */
			*ret_outermost = true;
		}
	}
	return hotspot_int(vm, d->pcs + i * (uint64_t)f->pc_size, f->pc_scope, ret) && *ret;
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

size_t hotspot_scopes(const struct hotspot_vm *vm, uint64_t blob, uint64_t pc, bool exact, struct hotspot_scope *ret,
	size_t max)
{
	struct debug_info d;
	uint32_t at, scope[3];
	bool outermost;
	size_t n = 0;

	if (!debug_info(vm, blob, &d) || !scope_at(vm, &d, pc, exact, &at, &outermost))
		return 0;
	do {
		if (!read_scope(vm, &d, at, scope) || !scope[1] ||
			!hotspot_word(vm, d.metadata, 8ll * (scope[1] - 1), &ret[n].method))
			return 0;
		ret[n].bci = (int32_t)scope[2] - 1;
		n++;
		at = scope[0];
	} while (at && n < max);
	if (outermost)
		ret[0] = ret[n - 1];
	return outermost ? 1 : n;
}
