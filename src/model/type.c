// SPDX-License-Identifier: Apache-2.0
/* type.c - the type of a value, and its layout in memory. */
#include "type.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "bpf/lib/record.h"

#define PREDEFINED(name, ...)                                                            \
	static const struct type name##_ = {__VA_ARGS__};                                \
	const struct type *const type_##name = &name##_;
#define PREDEFINED_INT(bits)                                                             \
	PREDEFINED(int##bits, .kind = TYPE_INT, .size = (bits) / 8, .is_signed = true)   \
	PREDEFINED(uint##bits, .kind = TYPE_INT, .size = (bits) / 8)

PREDEFINED(bad, .kind = TYPE_BAD)
PREDEFINED(none, .kind = TYPE_NONE)
PREDEFINED(bool, .kind = TYPE_BOOL, .size = 1)
PREDEFINED_INT(8)
PREDEFINED_INT(16)
PREDEFINED_INT(32)
PREDEFINED_INT(64)
PREDEFINED(ksym, .kind = TYPE_KSYM, .size = 8)
PREDEFINED(usym, .kind = TYPE_USYM, .size = sizeof(struct usym))
PREDEFINED(probe, .kind = TYPE_PLACE, .size = 8)
PREDEFINED(func, .kind = TYPE_PLACE, .size = 8, .place.func = true)
PREDEFINED(kfunc, .kind = TYPE_PLACE, .size = 8, .place = {.func = true, .kernel = true})
PREDEFINED(inet, .kind = TYPE_INET, .size = 20)
PREDEFINED(args, .kind = TYPE_ARGS)

static struct type *type_new(struct arena *a, enum type_kind kind, uint32_t size)
{
	struct type *t = arena_new_obj(a, struct type);

	t->kind = kind;
	t->size = size;
	return t;
}

const struct type *type_string(struct arena *a, uint32_t size)
{
	return type_new(a, TYPE_STRING, size);
}

const struct type *type_chars(struct arena *a, uint32_t bytes)
{
	struct type *t = type_new(a, TYPE_STRING, bytes + 1);

	t->string.bytes = bytes;
	return t;
}

uint32_t type_text_bytes(const struct type *t)
{
	return t->kind == TYPE_STRING && t->string.bytes ? t->string.bytes : t->size;
}

const struct type *type_int(uint32_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? type_int8 : type_uint8;
	case 2:
		return is_signed ? type_int16 : type_uint16;
	case 4:
		return is_signed ? type_int32 : type_uint32;
	default:
		return is_signed ? type_int64 : type_uint64;
	}
}

#define WEAK(bytes) {.kind = TYPE_INT, .size = (bytes), .is_signed = true, .integer.weak = true}
#define IN_WORD(t) {.kind = TYPE_INT, .size = 8, .is_signed = true, .integer.natural = &(t)}

static const struct type weak_ints[] = {WEAK(1), WEAK(2), WEAK(4), WEAK(8)};

static unsigned size_class(uint32_t size)
{
	return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

const struct type *type_weak_int(uint32_t size)
{
	return &weak_ints[size_class(size)];
}

const struct type *type_int_in_word(const struct type *t)
{
	static const struct type types[][3] = {
		{IN_WORD(uint8_), IN_WORD(uint16_), IN_WORD(uint32_)},
		{IN_WORD(int8_), IN_WORD(int16_), IN_WORD(int32_)},
		{IN_WORD(weak_ints[0]), IN_WORD(weak_ints[1]), IN_WORD(weak_ints[2])},
	};

	if (t->size == 8)
		return t;
	return &types[t->integer.weak ? 2 : t->is_signed][size_class(t->size)];
}

const struct type *type_natural(const struct type *t)
{
	return t->kind == TYPE_INT && t->integer.natural ? t->integer.natural : t;
}

bool type_same(const struct type *a, const struct type *b)
{
	const struct type *x = type_natural(a), *y = type_natural(b);
	bool same = type_eq(a, b) && type_eq(x, y) && (x->kind != TYPE_INT || x->integer.weak == y->integer.weak);

	for (unsigned i = 0; same && a->kind == TYPE_TUPLE && i < a->tuple.n; i++)
		same = type_same(a->tuple.members[i], b->tuple.members[i]);
	return same;
}

const struct type *type_enum(
	struct arena *a, uint32_t size, bool is_signed, const struct enumeration *names)
{
	struct type *t = type_new(a, TYPE_INT, size);

	t->is_signed = is_signed;
	t->integer.names = names;
	return t;
}

const struct enumeration *enumeration_of(const struct type *t)
{
	struct enumeration *e = t->kind == TYPE_INT ? (struct enumeration *)t->integer.names : NULL;
	void (*fill)(struct enumeration *e) = e ? e->fill : NULL;

	if (fill) {
		e->fill = NULL;
		fill(e);
	}
	return e;
}

const struct type *type_c_int(struct arena *a, uint32_t size, bool is_signed, const char *c_name)
{
	struct type *t = type_new(a, TYPE_INT, size);

	t->is_signed = is_signed;
	t->integer.c_name = c_name;
	return t;
}

const struct type *type_pointer(struct arena *a, const struct type *to, enum space space)
{
	struct type *t = type_new(a, TYPE_POINTER, 8);

	t->pointer.to = to;
	t->pointer.space = space;
	return t;
}

const struct type *type_buffer(struct arena *a, uint32_t n)
{
	return type_new(a, TYPE_BUFFER, 4 + n);
}

const struct type *type_array(struct arena *a, const struct type *of, uint32_t n)
{
	struct type *t = type_new(a, TYPE_ARRAY, of->size * n);

	t->array.of = of;
	t->array.n = n;
	return t;
}

/* ---- struct and union --------------------------------------------------- */

const struct type *type_struct(struct arena *a, uint32_t size, struct composite *c)
{
	struct type *t = type_new(a, TYPE_STRUCT, size);

	t->strct.composite = c;
	return t;
}

const struct composite *composite_of(const struct type *t)
{
	struct composite *c = t->strct.composite;
	void (*fill)(struct composite *c) = c->fill;

	c->fill = NULL;
	if (fill)
		fill(c);
	return c;
}

enum { NESTING_MAX = 16, MEMBERS_MAX = 100000 };

/* budget: the number of members that may still be visited, since nested unions can hold too many. */
static bool find_member(const struct type *t, const char *name, struct member *ret, unsigned depth,
	unsigned *budget)
{
	const struct composite *c = composite_of(t);

	for (unsigned i = 0; i < c->n && *budget; i++, --*budget) {
		const struct member *m = &c->members[i];

		if (*m->name) {
			*ret = *m;
			if (!strcmp(m->name, name))
				return true;
		} else if (m->type->kind == TYPE_STRUCT && depth < NESTING_MAX &&
			   find_member(m->type, name, ret, depth + 1, budget)) {
			ret->offset += m->offset;
			return true;
		}
	}
	return false;
}

bool type_member(const struct type *t, const char *name, struct member *ret)
{
	unsigned budget = MEMBERS_MAX;

	return *name && find_member(t, name, ret, 0, &budget);
}

/* Two sources, or two scripts, may have made the same type twice; one of them may only know its name. */
static bool struct_eq(const struct type *a, const struct type *b)
{
	const struct composite *x = a->strct.composite, *y = b->strct.composite;

	return x == y || (strchr(x->name, ' ') && !strcmp(x->name, y->name) &&
		(a->size == b->size || x->incomplete || y->incomplete));
}

/* Text is stored and compared in words of 8 bytes, which must be aligned on the BPF stack. */
uint32_t type_align(const struct type *t)
{
	switch (t->kind) {
	case TYPE_INT:
		return t->size;
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_BOOL:
		return 1;
	case TYPE_STRING:
	case TYPE_BUFFER:
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_POINTER:
	case TYPE_TUPLE:
	case TYPE_STACK:
	case TYPE_FRAME:
	case TYPE_KSYM:
	case TYPE_USYM:
	case TYPE_PLACE:
	case TYPE_INET:
	case TYPE_SHOWN:
	case TYPE_ARGS:
	case TYPE_AGG:
		return 8;
	}
	return 8;
}

const struct type *type_tuple(
	struct arena *a, const struct type *const *members, unsigned n)
{
	struct type *t = type_new(a, TYPE_TUPLE, 0);
	const struct type **types = arena_new_array(a, const struct type *, n + 1);
	uint32_t *offsets = arena_new_array(a, uint32_t, n + 1), at = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t align = type_align(members[i]);

		at = (at + align - 1) / align * align;
		types[i] = members[i];
		offsets[i] = at;
		at += members[i]->size;
	}
	t->size = (at + 7) / 8 * 8;
	t->tuple.n = n;
	t->tuple.members = types;
	t->tuple.offsets = offsets;
	return t;
}

const struct type *type_record(struct arena *a, const struct type *const *members,
	const char *const *names, unsigned n)
{
	struct type *t = (struct type *)type_tuple(a, members, n);

	t->tuple.names = names;
	return t;
}

const struct type *type_stack(
	struct arena *a, enum frame_lang lang, enum stack_mode mode, uint32_t limit, bool limited)
{
	struct type *t = type_new(a, TYPE_STACK, 8);

	t->stack.lang = lang;
	t->stack.mode = mode;
	t->stack.limit = limit;
	t->stack.limited = limited;
	return t;
}

const struct type *type_stack_last(struct arena *a, const struct type *stack, uint32_t last)
{
	struct type *t = type_new(a, TYPE_STACK, 8);

	t->stack = stack->stack;
	t->stack.last = last;
	return t;
}

const struct type *type_stack_part(struct arena *a, const struct type *stack, const char *from, const char *to)
{
	struct type *t = type_new(a, TYPE_STACK, 8);

	t->stack = stack->stack;
	t->stack.from = from;
	t->stack.to = to;
	return t;
}

const struct type *type_frame(struct arena *a, const struct type *stack, int32_t index, enum frame_part part)
{
	struct type *t = type_new(a, TYPE_FRAME, 8);

	t->frame.stack = stack;
	t->frame.index = index;
	t->frame.part = part;
	return t;
}

const struct type *type_has_frame(struct arena *a, const struct type *stack, const struct frame_pattern *pattern)
{
	struct type *t = type_new(a, TYPE_FRAME, 8);

	t->frame.stack = stack;
	t->frame.part = FRAME_PART_HAS;
	t->frame.pattern = pattern;
	return t;
}

bool type_is_has_frame(const struct type *t)
{
	return t->kind == TYPE_FRAME && t->frame.part == FRAME_PART_HAS;
}

bool type_is_late(const struct type *t)
{
	return type_is_has_frame(t) || (t->kind == TYPE_SHOWN && t->shown.as == SHOWN_IN_CONTAINER);
}

const struct type *type_shown(struct arena *a, enum shown_kind as, const char *format)
{
	struct type *t = type_new(a, TYPE_SHOWN, 8);

	t->shown.as = as;
	t->shown.format = format;
	return t;
}

const struct type *type_agg(struct arena *a, enum agg_kind kind, bool is_signed)
{
	bool wide = kind != AGG_COUNT && kind != AGG_SUM;
	struct type *t = type_new(a, TYPE_AGG, wide ? sizeof(struct agg_stats) : 8);

	t->is_signed = is_signed;
	t->agg.kind = kind;
	return t;
}

const struct type *type_hist(struct arena *a, uint32_t bits)
{
	uint32_t buckets = HIST_BUCKETS(bits);
	struct type *t = type_new(a, TYPE_AGG, 8 * buckets);

	t->is_signed = true;
	t->agg.kind = AGG_HIST;
	t->agg.bits = bits;
	t->agg.buckets = buckets;
	return t;
}

/* One bucket is for values below min, one for values from max on, and one for each step between, including
 * a last step that max cuts short. */
const struct type *type_lhist(struct arena *a, int64_t min, int64_t max, int64_t step)
{
	uint64_t range = (uint64_t)max - (uint64_t)min;
	uint32_t buckets =
		(uint32_t)(range / (uint64_t)step + (range % (uint64_t)step != 0)) + 2;
	struct type *t = type_new(a, TYPE_AGG, 8 * buckets);

	t->is_signed = true;
	t->agg.kind = AGG_LHIST;
	t->agg.min = min;
	t->agg.max = max;
	t->agg.step = step;
	t->agg.buckets = buckets;
	return t;
}

const struct type *type_tseries(struct arena *a, bool is_signed, int64_t step, uint32_t n, int series)
{
	struct type *t = type_new(a, TYPE_AGG, n * sizeof(struct agg_tseries));

	t->is_signed = is_signed;
	t->agg.kind = AGG_TSERIES;
	t->agg.step = step;
	t->agg.buckets = n;
	t->agg.series = series;
	return t;
}

static bool agg_eq(const struct type *a, const struct type *b)
{
	return a->is_signed == b->is_signed && a->agg.kind == b->agg.kind &&
	       a->agg.bits == b->agg.bits && a->agg.min == b->agg.min &&
	       a->agg.max == b->agg.max && a->agg.step == b->agg.step &&
	       a->agg.series == b->agg.series && a->agg.buckets == b->agg.buckets;
}

static bool tuple_eq(const struct type *a, const struct type *b)
{
	if (a->tuple.n != b->tuple.n || !a->tuple.names != !b->tuple.names)
		return false;
	for (unsigned i = 0; i < a->tuple.n; i++)
		if (!type_eq(a->tuple.members[i], b->tuple.members[i]) ||
			(a->tuple.names && strcmp(a->tuple.names[i], b->tuple.names[i])))
			return false;
	return true;
}

static bool enum_eq(const struct enumeration *a, const struct enumeration *b)
{
	return a == b || (a && b && strchr(a->name, ' ') && !strcmp(a->name, b->name));
}

static bool text_eq(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool pattern_eq(const struct frame_pattern *a, const struct frame_pattern *b)
{
	return a == b || (a && b && text_eq(a->func, b->func) && text_eq(a->module, b->module));
}

bool type_same_part(const struct type *a, const struct type *b)
{
	return a->stack.last == b->stack.last && text_eq(a->stack.from, b->stack.from) &&
	       text_eq(a->stack.to, b->stack.to);
}

bool type_eq(const struct type *a, const struct type *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || (a->size != b->size && a->kind != TYPE_STRUCT))
		return false;
	switch (a->kind) {
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_BOOL:
	case TYPE_STRING:
	case TYPE_BUFFER:
	case TYPE_KSYM:
	case TYPE_USYM:
	case TYPE_INET:
	case TYPE_ARGS:
		return true;
	case TYPE_INT:
		return a->is_signed == b->is_signed && enum_eq(a->integer.names, b->integer.names);
	case TYPE_POINTER:
		return a->pointer.space == b->pointer.space && a->pointer.context == b->pointer.context &&
		       type_eq(a->pointer.to, b->pointer.to);
	case TYPE_ARRAY:
		return a->array.n == b->array.n && type_eq(a->array.of, b->array.of);
	case TYPE_STRUCT:
		return struct_eq(a, b);
	case TYPE_TUPLE:
		return tuple_eq(a, b);
	case TYPE_STACK:
		return a->stack.lang == b->stack.lang && a->stack.mode == b->stack.mode &&
		       a->stack.limit == b->stack.limit &&
		       a->stack.limited == b->stack.limited && type_same_part(a, b);
	case TYPE_FRAME:
		return a->frame.index == b->frame.index && a->frame.part == b->frame.part &&
		       type_eq(a->frame.stack, b->frame.stack) && pattern_eq(a->frame.pattern, b->frame.pattern);
	case TYPE_SHOWN:
		return a->shown.as == b->shown.as &&
		       (!a->shown.format || !strcmp(a->shown.format, b->shown.format));
	case TYPE_PLACE:
		return a->place.func == b->place.func && a->place.kernel == b->place.kernel;
	case TYPE_AGG:
		return agg_eq(a, b);
	}
	return false;
}

static const char *const agg_names[] = {
	[AGG_COUNT] = "count",
	[AGG_SUM] = "sum",
	[AGG_MIN] = "min",
	[AGG_MAX] = "max",
	[AGG_AVG] = "avg",
	[AGG_STATS] = "stats",
	[AGG_HIST] = "hist",
	[AGG_LHIST] = "lhist",
	[AGG_TSERIES] = "tseries",
};

static const char *const shown_names[] = {
#define A(id, name) name,
	SHOWN_KINDS(A)
#undef A
};

static const char *const stack_names[] = {
	[FRAME_LANG_KERNEL] = "kstack",
	[FRAME_LANG_NATIVE] = "ustack",
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = #builtin,
#include "bpf/languages.def"
#undef L
};

const char *const stack_mode_names[STACK_MODE_MAX] = {
#define M(id, name) name,
	STACK_MODES(M)
#undef M
};

bool stack_mode_by_name(const char *name, enum stack_mode *ret)
{
	for (int i = 0; i < STACK_MODE_MAX; i++)
		if (!strcmp(stack_mode_names[i], name)) {
			*ret = (enum stack_mode)i;
			return true;
		}
	return false;
}

bool stack_lang_by_name(const char *name, enum frame_lang *ret)
{
	if (!strncmp(name, "dw_", 3)) /* dw_ustack */
		name += 3;
	for (unsigned i = 0; i < ARRAY_SIZE(stack_names); i++)
		if (stack_names[i] && !strcmp(stack_names[i], name)) {
			*ret = (enum frame_lang)i;
			return true;
		}
	return false;
}

static const char *stack_name(struct arena *a, const struct type *t)
{
	if (t->stack.mode == STACK_FUNC)
		return stack_names[t->stack.lang];
	return arena_printf(
		a, "%s(%s)", stack_names[t->stack.lang], stack_mode_names[t->stack.mode]);
}

static const char *tuple_name(struct arena *a, const struct type *t)
{
	struct str s = {};
	const char *text;

	str_addc(&s, '(');
	for (unsigned i = 0; i < t->tuple.n; i++)
		str_addf(&s, "%s%s%s%s", i ? ", " : "", t->tuple.names ? t->tuple.names[i] : "",
			t->tuple.names ? "=" : "", type_name(a, t->tuple.members[i]));
	str_add(&s, t->tuple.n == 1 && !t->tuple.names ? ",)" : ")");
	text = arena_strdup(a, str_text(&s));
	str_done(&s);
	return text;
}

static const char *agg_name(struct arena *a, const struct type *t)
{
	if (t->agg.kind == AGG_HIST && t->agg.bits)
		return arena_printf(a, "hist(%u)", t->agg.bits);
	if (t->agg.kind == AGG_TSERIES)
		return arena_printf(a, "tseries(%lld, %u)", (long long)t->agg.step, t->agg.buckets);
	if (t->agg.kind == AGG_LHIST)
		return arena_printf(a, "lhist(%lld, %lld, %lld)", (long long)t->agg.min,
			(long long)t->agg.max, (long long)t->agg.step);
	return agg_names[t->agg.kind];
}

/* "struct file *", "int32 **" */
static const char *pointer_name(struct arena *a, const struct type *t)
{
	const struct type *to = t->pointer.to;
	const char *name = to->kind == TYPE_NONE ? "void" :
		to->kind == TYPE_INT && to->integer.c_name ? to->integer.c_name : type_name(a, to);
	size_t len = strlen(name);

	return arena_printf(a, len && name[len - 1] == '*' ? "%s*" : "%s *", name);
}

/* C writes the outer dimension first: int32[2][3] is an array of two arrays. */
static const char *array_name(struct arena *a, const struct type *t)
{
	struct str s = {};
	const struct type *of = t;
	const char *text;

	while (of->kind == TYPE_ARRAY)
		of = of->array.of;
	str_add(&s, type_name(a, of));
	for (of = t; of->kind == TYPE_ARRAY; of = of->array.of)
		str_addf(&s, "[%u]", of->array.n);
	text = arena_strdup(a, str_text(&s));
	str_done(&s);
	return text;
}

static const char *int_name(struct arena *a, const struct type *t)
{
	if (t->integer.names)
		return t->integer.names->name;
	return arena_printf(a, "%sint%u", t->is_signed ? "" : "u", 8 * t->size);
}

const char *type_name(struct arena *a, const struct type *t)
{
	switch (t->kind) {
	case TYPE_BAD:
		return "nothing known";
	case TYPE_NONE:
		return "none";
	case TYPE_INT:
		return int_name(a, t);
	case TYPE_BOOL:
		return "bool";
	case TYPE_POINTER:
		return pointer_name(a, t);
	case TYPE_ARRAY:
		return array_name(a, t);
	case TYPE_STRUCT:
		return t->strct.composite->name;
	case TYPE_BUFFER:
		return "buffer";
	case TYPE_STRING:
		return arena_printf(a, "string[%u]", t->size);
	case TYPE_TUPLE:
		return tuple_name(a, t);
	case TYPE_STACK:
		return stack_name(a, t);
	case TYPE_FRAME:
		return type_is_has_frame(t) ? "has_frame" : t->frame.part ? "part of a frame" : "frame";
	case TYPE_KSYM:
		return "ksym";
	case TYPE_USYM:
		return "usym";
	case TYPE_INET:
		return "inet";
	case TYPE_SHOWN:
		return shown_names[t->shown.as];
	case TYPE_PLACE:
		return t->place.func ? "func" : "probe";
	case TYPE_ARGS:
		return "args";
	case TYPE_AGG:
		return agg_name(a, t);
	}
	return "";
}

/* ---- by name ---- */

static const struct {
	const char *name;
	const struct type *type;
} named[] = {
	{"bool", &bool_},
	{"func", &func_},
	{"int16", &int16_},
	{"int32", &int32_},
	{"int64", &int64_},
	{"int8", &int8_},
	{"ksym", &ksym_},
	{"none", &none_},
	{"probe", &probe_},
	{"uint16", &uint16_},
	{"uint32", &uint32_},
	{"uint64", &uint64_},
	{"uint8", &uint8_},
	{"usym", &usym_},
};

const struct type *type_by_name(struct arena *a, const char *name)
{
	size_t len = strlen(name);
	unsigned long size;
	char *end;

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strlen(named[i].name) == len && !strncmp(named[i].name, name, len))
			return named[i].type;
	if (strncmp(name, "string[", 7) != 0 || name[7] < '0' || name[7] > '9')
		return NULL;
	size = strtoul(name + 7, &end, 10);
	if (strcmp(end, "]") != 0 || size < 1 || size > TYPE_STRING_MAX)
		return NULL;
	return type_string(a, (uint32_t)size);
}

int type_tuple_member(const struct type *t, const struct type *like, unsigned i)
{
	if (!like->tuple.names)
		return (int)i;
	for (unsigned k = 0; k < t->tuple.n; k++)
		if (!strcmp(t->tuple.names[k], like->tuple.names[i]))
			return (int)k;
	return -1;
}

bool type_has(const struct type *t, enum type_kind kind)
{
	bool has = t && t->kind == kind;

	for (unsigned i = 0; t && t->kind == TYPE_TUPLE && i < t->tuple.n && !has; i++)
		has = type_has(t->tuple.members[i], kind);
	return has;
}

bool type_has_each(const struct type *t)
{
	if (!t)
		return false;
	if (t->kind == TYPE_FRAME)
		return t->frame.index == FRAME_EACH;
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n; i++)
		if (type_has_each(t->tuple.members[i]))
			return true;
	return false;
}

bool type_has_ids(const struct type *t)
{
	return type_has(t, TYPE_STACK) || type_has(t, TYPE_FRAME);
}
