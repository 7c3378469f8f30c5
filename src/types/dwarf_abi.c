// SPDX-License-Identifier: Apache-2.0
/* dwarf_abi.c - the places of arguments: System V's AMD64 ABI (x86-64-ABI, 1.0, 3.2.3) and Arm's AAPCS64
 * (2023Q3, 6.8.2), with the Itanium C++ ABI (2.3: classes that are not trivial are passed by reference). */
#include "dwarf_read.h"

#include <string.h>

#include "base/owner.h"

enum {
	X86_INTS = 6, X86_FLOATS = 8, ARM_INTS = 8, ARM_FLOATS = 8,
	PARTS_MAX = 256, /* the most members that are visited */
};

static const char in_float[] = "it is in a floating-point register";
static const char no_layout[] = "its type is not known whole";

enum class { /* class of eight bytes */
	CLASS_NONE, CLASS_INT, CLASS_FLOAT,
	CLASS_X87, /* returned in st0, passed in memory */
	CLASS_MEMORY
};

struct layout { /* layout of a value */
	uint32_t size, align;
	enum class class[2]; /* for x86_64 */
	bool by_reference;   /* a class that is not trivial, passed by reference */
	bool composite;
	/* For arm64: only floats of one size. Each of them gets a register. */
	unsigned floats;
	uint32_t float_size;
	bool not_floats;
	bool arm;
	/* For Rust: */
	unsigned scalars[2]; /* number of scalars in each word */
	bool variants;
	unsigned left; /* number of parts that may still be visited */
};

/* ---- classes that are not trivial --------------------------------------- */

/* DW_CC_pass_by_reference is exact since DWARF 5. Before, a destructor of the user's or a table of virtual
 * functions is visible, but not a copy constructor. */
static bool by_reference(const struct debuginfo *d, const Dwarf_Die *type)
{
	uint64_t convention;
	Dwarf_Die child;

	if (die_unsigned(d, type, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_reference;
	if (!die_child(d, type, &child))
		return false;
	do {
		const char *name = die_name(d, &child);
		int tag = die_tag(d, &child);

		if (tag == DW_TAG_subprogram && name && *name == '~' &&
			!die_flag(d, &child, DW_AT_artificial) && !die_has(d, &child, DW_AT_defaulted))
			return true;
		if (tag == DW_TAG_member && name && !strncmp(name, "_vptr", 5))
			return true;
	} while (die_next(d, &child));
	return false;
}

/* ---- integers and floats in a value -------------------------------------- */

static enum class join(enum class a, enum class b)
{
	if (a == b || b == CLASS_NONE)
		return a;
	if (a == CLASS_NONE)
		return b;
	return a >= CLASS_X87 || b >= CLASS_X87 ? CLASS_MEMORY : CLASS_INT;
}

static void add_scalar(struct layout *l, uint64_t offset, uint32_t size, enum class class)
{
	uint32_t align = size > 16 ? 16 : size ? size : 1;

	if (align & (align - 1))
		align = 8;
	l->align = align > l->align ? align : l->align;
	l->scalars[offset >= 8] += size > 0;
	if (offset % align)
		class = CLASS_MEMORY;
	for (uint64_t at = offset / 8; at <= (offset + size - 1) / 8 && at < 2; at++)
		l->class[at] = join(l->class[at], class);
	if (class == CLASS_MEMORY) /* applies to the whole value */
		l->class[0] = class;
}

/* x87: the long double of x86_64. */
static void add_float(struct layout *l, uint64_t offset, uint32_t size, bool x87)
{
	if (l->float_size && l->float_size != size)
		l->not_floats = true;
	l->float_size = size;
	l->floats++;
	add_scalar(l, offset, size, x87 ? CLASS_X87 : CLASS_FLOAT);
}

static void add_part(const struct debuginfo *d, struct layout *l, const Dwarf_Die *type, uint64_t offset,
	unsigned depth);

static void add_member(const struct debuginfo *d, struct layout *l, const Dwarf_Die *member,
	uint64_t offset, unsigned depth)
{
	int tag = die_tag(d, member);
	Dwarf_Die of;
	uint64_t at;

	l->variants |= tag == DW_TAG_variant_part;
	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || die_flag(d, member, DW_AT_external) ||
		!die_type(d, member, &of))
		return;
	if (die_has(d, member, DW_AT_bit_size)) {
		l->not_floats = true;
		if (!die_unsigned(d, member, DW_AT_data_bit_offset, &at))
			at = die_member_offset(d, member, &at) ? 8 * at : 0;
		add_scalar(l, offset + at / 8, 1, CLASS_INT);
	} else if (die_member_offset(d, member, &at)) {
		add_part(d, l, &of, offset + at, depth + 1);
	}
}

static void add_members(const struct debuginfo *d, struct layout *l, const Dwarf_Die *type,
	uint64_t offset, unsigned depth)
{
	bool is_union = die_tag(d, type) == DW_TAG_union_type;
	unsigned before = l->floats, most = 0;
	Dwarf_Die child;

	l->composite = true;
	if (by_reference(d, type))
		l->by_reference = true;
	if (!die_child(d, type, &child))
		return;
	do {
		add_member(d, l, &child, offset, depth);
		if (is_union) {
			most = l->floats > most ? l->floats : most;
			l->floats = before;
		}
	} while (l->left && die_next(d, &child));
	if (is_union)
		l->floats = most;
}

static void add_array(const struct debuginfo *d, struct layout *l, const Dwarf_Die *type,
	uint64_t offset, unsigned depth)
{
	uint64_t n = die_elements(d, type);
	Dwarf_Die of;
	uint32_t size;

	if (!die_type(d, type, &of))
		return;
	l->composite = true;
	size = die_size(d, &of);
	if (die_flag(d, type, DW_AT_GNU_vector)) {
		add_float(l, offset, die_size(d, type), false);
		return;
	}
	for (uint64_t i = 0; i < n && size && l->left; i++)
		add_part(d, l, &of, offset + i * size, depth + 1);
}

/* Returns whether it is GCC's __float128 or _Float128, which are in vector registers. */
static bool is_float128(const struct debuginfo *d, const Dwarf_Die *type)
{
	const char *name = die_name(d, type);

	return name && strstr(name, "loat128");
}

static void add_base(const struct debuginfo *d, struct layout *l, const Dwarf_Die *type, uint64_t offset)
{
	uint32_t size = die_size(d, type);
	uint64_t encoding = 0;

	die_unsigned(d, type, DW_AT_encoding, &encoding);
	if (encoding == DW_ATE_complex_float) {
		add_float(l, offset, size / 2, size == 32 && !l->arm);
		add_float(l, offset + size / 2, size / 2, size == 32 && !l->arm);
	} else if (encoding == DW_ATE_float || encoding == DW_ATE_decimal_float) {
		add_float(l, offset, size, size == 16 && !l->arm && encoding == DW_ATE_float &&
			!is_float128(d, type));
	} else {
		l->not_floats = true;
		add_scalar(l, offset, size, CLASS_INT);
	}
}

static void add_part(const struct debuginfo *d, struct layout *l, const Dwarf_Die *type, uint64_t offset,
	unsigned depth)
{
	int tag = die_tag(d, type);

	if (!l->left || depth > DIE_DEPTH_MAX)
		return;
	l->left--;
	if (die_is_composite(tag))
		add_members(d, l, type, offset, depth);
	else if (tag == DW_TAG_array_type)
		add_array(d, l, type, offset, depth);
	else
		add_base(d, l, type, offset);
}

static struct layout layout_of(const struct debuginfo *d, const Dwarf_Die *type, bool arm)
{
	struct layout l = {.size = die_size(d, type), .align = 1, .arm = arm, .left = PARTS_MAX};
	uint64_t align;

	if (die_is_declaration(d, type))
		return l;
	add_part(d, &l, type, 0, 0);
	if (die_unsigned(d, type, DW_AT_alignment, &align) && align <= 16 && align > l.align)
		l.align = (uint32_t)align;
	return l;
}

/* ---- x86_64 ------------------------------------------------------------- */

static void on_stack(struct abi_state *s, const struct layout *l, struct argument *ret)
{
	uint32_t align = l->align > 8 ? 16 : 8;

	s->stack = (s->stack + align - 1) / align * align;
	ret->where = ARG_STACK;
	ret->offset = s->stack + (s->arm ? 0 : 8); /* on x86_64, above the return address */
	s->stack += (l->size + 7) / 8 * 8;
}

static void nowhere(struct argument *ret, const char *why)
{
	ret->where = ARG_NOWHERE;
	ret->why = why;
}

static void in_register(struct abi_state *s, struct argument *ret)
{
	ret->where = ARG_REGISTER;
	ret->reg = s->ints++;
}

/* Handles a value that is passed by a pointer to it. */
static void pointed(struct abi_state *s, unsigned max, struct argument *ret)
{
	static const struct layout pointer = {.size = 8, .align = 8};

	if (s->ints < max) {
		in_register(s, ret);
		ret->where = ARG_POINTED;
	} else {
		on_stack(s, &pointer, ret);
		nowhere(ret, "a pointer to it is on the stack");
	}
}

static void next_x86(struct abi_state *s, const struct layout *l, struct argument *ret)
{
	bool memory = l->size > 16 || l->class[0] >= CLASS_X87 || l->class[1] >= CLASS_X87;
	unsigned ints = (l->class[0] == CLASS_INT) + (l->class[1] == CLASS_INT);
	unsigned floats = (l->class[0] == CLASS_FLOAT) + (l->class[1] == CLASS_FLOAT);

	if (!memory && !ints && !floats) {
		nowhere(ret, "it is empty");
	} else if (l->class[0] == CLASS_FLOAT && !l->composite) { /* also floats of 16 or 32 bytes */
		if (s->floats < X86_FLOATS)
			s->floats++, nowhere(ret, in_float);
		else
			on_stack(s, l, ret);
	} else if (memory || s->ints + ints > X86_INTS || s->floats + floats > X86_FLOATS) {
		on_stack(s, l, ret);
	} else {
		in_register(s, ret);
		if (ints == 2)
			ret->where = ARG_REGISTERS, ret->reg2 = ret->reg + 1;
		if (floats)
			nowhere(ret, ints ? "a part of it is in a floating-point register" : in_float);
		s->ints += ints - 1;
		s->floats += floats;
	}
}

/* ---- arm64 -------------------------------------------------------------- */

static void floats_arm(struct abi_state *s, const struct layout *l, struct argument *ret)
{
	if (s->floats + l->floats <= ARM_FLOATS) {
		s->floats += l->floats;
		nowhere(ret, in_float);
	} else {
		s->floats = ARM_FLOATS;
		on_stack(s, l, ret);
	}
}

static void next_arm(struct abi_state *s, const struct layout *l, struct argument *ret)
{
	unsigned words = (l->size + 7) / 8;

	if (l->floats && l->floats <= 4 && !l->not_floats) {
		floats_arm(s, l, ret);
	} else if (l->size > 16) {
		pointed(s, ARM_INTS, ret);
	} else if (!l->size) {
		nowhere(ret, "it is empty");
	} else {
		if (l->align > 8)
			s->ints += s->ints & 1;
		if (s->ints + words > ARM_INTS) {
			s->ints = ARM_INTS;
			on_stack(s, l, ret);
			return;
		}
		in_register(s, ret);
		if (words == 2)
			ret->where = ARG_REGISTERS, ret->reg2 = s->ints++;
	}
}

/* ---- Rust --------------------------------------------------------------- */

/* Rust does not specify its calling convention (reference, "The Rust ABI"). rustc passes one scalar, or two
 * as two arguments (rustc_ty_utils/src/abi.rs, 1.85), and larger values by reference; versions differ for
 * values between these. */
static void next_rust(struct abi_state *s, const struct layout *l, struct argument *ret)
{
	unsigned max = s->arm ? ARM_INTS : X86_INTS;
	bool pair = l->scalars[0] == 1 && l->scalars[1] == 1;
	bool one = l->scalars[0] == 1 && !l->scalars[1];

	if (l->size > 16) {
		pointed(s, max, ret);
		return;
	}
	if (!l->size) {
		nowhere(ret, "it is empty");
		return;
	}
	if (l->variants || l->floats || (!one && !pair) || s->ints + 1 + pair > max) {
		nowhere(ret, "Rust does not say where it is passed");
		s->lost = true;
		return;
	}
	in_register(s, ret);
	if (pair)
		ret->where = ARG_REGISTERS, ret->reg2 = s->ints++;
}

/* ---- all conventions ----------------------------------------------------- */

void abi_next(const struct debuginfo *d, struct abi_state *s, const Dwarf_Die *type,
	struct argument *ret)
{
	struct layout l = layout_of(d, type, s->arm);

	if (l.composite && !l.left)
		nowhere(ret, no_layout);
	else if (l.by_reference)
		pointed(s, s->arm ? ARM_INTS : X86_INTS, ret);
	else if (s->lost)
		nowhere(ret, "Rust does not say where what is before it is passed");
	else if (s->rust && l.composite)
		next_rust(s, &l, ret);
	else if (s->arm)
		next_arm(s, &l, ret);
	else
		next_x86(s, &l, ret);
}

/* A return value that is not in registers is written to an address from the caller: on x86_64 in the first
 * register, on arm64 in x8. */
void abi_begin(const struct debuginfo *d, const Dwarf_Die *function, struct abi_state *s)
{
	struct layout l;
	Dwarf_Die type;

	*s = (struct abi_state){.arm = d->machine == EM_AARCH64, .rust = die_unit_is_rust(d, function)};
	if (s->arm || !die_type(d, function, &type))
		return;
	l = layout_of(d, &type, false);
	if (l.composite && (l.by_reference || l.size > 16 || l.class[0] == CLASS_MEMORY ||
			l.class[1] == CLASS_MEMORY))
		s->ints = 1;
}

bool abi_returns_int(const struct debuginfo *d, const Dwarf_Die *function)
{
	struct layout l;
	Dwarf_Die type;

	if (!die_type(d, function, &type))
		return false;
	l = layout_of(d, &type, d->machine == EM_AARCH64);
	return !l.composite && !l.floats && l.size && l.size <= 8 && l.class[0] == CLASS_INT;
}
