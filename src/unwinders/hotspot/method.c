// SPDX-License-Identifier: Apache-2.0
/* method.c - methods of a Java virtual machine: class, name, file, and lines.
 *
 * (src/hotspot/share/oops/constMethod.hpp, method.cpp: CompressedLineNumberReadStream, and
 * code/compressedStream.hpp, utilities/unsigned5.hpp of JDK 8.0 to 26.0; constMethodFlags.hpp of 21.0 to 26.0) */
#include <string.h>

#include "base/str.h"
#include "hotspot.h"

#define LINES_MAX (1 << 20) /* bytes of a line table */
#define NAME_MAX_BYTES 4096

bool hotspot_word(const struct hotspot_vm *vm, uint64_t object, int64_t offset, uint64_t *ret)
{
	return !vm->memory.read(vm->memory.arg, object + (uint64_t)offset, ret, sizeof(*ret));
}

bool hotspot_int(const struct hotspot_vm *vm, uint64_t object, int64_t offset, uint32_t *ret)
{
	return !vm->memory.read(vm->memory.arg, object + (uint64_t)offset, ret, sizeof(*ret));
}

static bool read_16(const struct hotspot_vm *vm, uint64_t object, int64_t offset, uint16_t *ret)
{
	return !vm->memory.read(vm->memory.arg, object + (uint64_t)offset, ret, sizeof(*ret));
}

/* Modified UTF-8 differs from UTF-8 in zeros (two bytes), and in characters that need two UTF-16 units, which remain
 * as they are. */
static bool append_symbol(const struct hotspot_vm *vm, uint64_t symbol, struct str *out)
{
	const struct hotspot_proc *p = &vm->layout->proc;
	char text[NAME_MAX_BYTES];
	uint16_t length;
	size_t n;

	if (!symbol || !read_16(vm, symbol, p->symbol_length, &length) || !length)
		return false;
	n = length < sizeof(text) ? length : sizeof(text);
	if (vm->memory.read(vm->memory.arg, symbol + p->symbol_body, text, n) || memchr(text, 0, n))
		return false;
	str_addn(out, text, n);
	return true;
}

void hotspot_append(const struct hotspot_text *t, struct str *out)
{
	size_t n = t->size < HOTSPOT_TEXT_MAX ? t->size : HOTSPOT_TEXT_MAX;

	str_addn(out, (const char *)t->chars, strnlen((const char *)t->chars, n));
	if (t->full > t->size)
		str_add(out, "..");
}

static uint64_t pool_symbol(const struct hotspot_vm *vm, uint64_t pool, uint16_t index)
{
	uint64_t symbol;

	return index && hotspot_word(vm, pool, vm->layout->proc.pool_size + 8ll * index, &symbol) ? symbol : 0;
}

/* ConstMethodFlags::is_hidden, since JDK 21. */
#define CONST_HIDDEN (1u << 12)

/* JDK 8 has the flag, but no table has its place; hidden methods are in classes that the JDK makes. */
static bool is_made(const struct str *klass)
{
	static const char forms[] = "java/lang/invoke/LambdaForm$";

	return klass->data && (strstr(klass->data, "$$Lambda$") || !strncmp(klass->data, forms, sizeof(forms) - 1));
}

static bool is_hidden(const struct hotspot_vm *vm, uint64_t method, uint32_t flags, const struct str *klass)
{
	const struct hotspot_fields *f = &vm->layout->at;
	uint16_t own;

	if (f->const_flags_32 >= 0)
		return flags & CONST_HIDDEN;
	if (f->method_flags < 0 || !f->hidden)
		return is_made(klass);
	return read_16(vm, method, f->method_flags, &own) && own & f->hidden;
}

bool hotspot_method(const struct hotspot_vm *vm, uint64_t method, struct hotspot_method *ret)
{
	const struct hotspot_proc *p = &vm->layout->proc;
	const struct hotspot_fields *f = &vm->layout->at;
	uint16_t name, size, file = 0, flags = 0;
	uint64_t holder, klass;

	if (!method || !hotspot_word(vm, method, p->method_const, &ret->constant) ||
		!hotspot_word(vm, ret->constant, p->const_pool, &ret->pool) ||
		!read_16(vm, ret->constant, p->const_name, &name) ||
		!read_16(vm, ret->constant, p->const_code_size, &size) ||
		!hotspot_word(vm, ret->pool, p->pool_holder, &holder) ||
		!hotspot_word(vm, holder, p->klass_name, &klass))
		return false;
	if (f->pool_file >= 0)
		read_16(vm, ret->pool, p->pool_file, &file);
	else
		read_16(vm, holder, p->klass_file, &file);
	ret->code_size = size;
	ret->flags = 0;
	if (f->const_flags_32 >= 0)
		hotspot_int(vm, ret->constant, f->const_flags_32, &ret->flags);
	else if (f->const_flags >= 0 && read_16(vm, ret->constant, f->const_flags, &flags))
		ret->flags = flags;
	append_symbol(vm, pool_symbol(vm, ret->pool, file), ret->file);
	if (!append_symbol(vm, klass, ret->klass))
		return false;
	ret->hidden = is_hidden(vm, method, ret->flags, ret->klass);
	return append_symbol(vm, pool_symbol(vm, ret->pool, name), ret->name);
}

/* ---- lines ---- */

size_t hotspot_unsigned5(const uint8_t *p, size_t left, uint8_t base, uint32_t *ret)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 5 && i < left; i++) {
		if (p[i] < base)
			return 0;
		sum += (uint32_t)(p[i] - base) << (6 * i);
		if (p[i] < 192 || i == 4) {
			*ret = sum;
			return i + 1;
		}
	}
	return 0;
}

/* A window on the table, which has no length. */
struct line_reader {
	const struct hotspot_vm *vm;
	uint64_t at;
	uint8_t bytes[256];
	size_t pos, n;
	size_t total;
};

/* Makes sure that 16 bytes, or all readable ones, are left. */
static bool fill(struct line_reader *r)
{
	size_t want = sizeof(r->bytes);

	if (r->n - r->pos >= 16)
		return true;
	r->at += r->pos;
	r->total += r->pos;
	r->pos = r->n = 0;
	while (want >= 1 && r->vm->memory.read(r->vm->memory.arg, r->at, r->bytes, want))
		want /= 2;
	r->n = want;
	return want && r->total < LINES_MAX;
}

static bool signed5(struct line_reader *r, int32_t *ret)
{
	uint32_t v;
	size_t n = hotspot_unsigned5(r->bytes + r->pos, r->n - r->pos, hotspot_base(r->vm->layout), &v);

	r->pos += n;
	*ret = (int32_t)(v >> 1) ^ -(int32_t)(v & 1);
	return n;
}

/* An entry has a byte with the differences of the bci (5 bits) and the line (3 bits); 255: two numbers follow. */
static bool next_line(struct line_reader *r, uint32_t *bci, uint32_t *line)
{
	int32_t by_bci, by_line;
	uint8_t b;

	if (!fill(r))
		return false;
	b = r->bytes[r->pos++];
	if (!b)
		return false;
	if (b == 255) {
		if (!signed5(r, &by_bci) || !signed5(r, &by_line))
			return false;
		*bci += (uint32_t)by_bci;
		*line += (uint32_t)by_line;
	} else {
		*bci += b >> 3;
		*line += b & 7;
	}
	return true;
}

#define HAS_LINES 1 /* ConstMethod::_has_linenumber_table */

uint32_t hotspot_line(const struct hotspot_vm *vm, const struct hotspot_method *m, uint32_t bci)
{
	struct line_reader r = { .vm = vm, .at = m->constant + vm->layout->proc.const_size + m->code_size };
	uint32_t at = 0, line = 0, best = 0, ret = 0;

	if (!(m->flags & HAS_LINES) || bci >= m->code_size)
		return 0;
	while (next_line(&r, &at, &line)) {
		if (at == bci)
			return line;
		if (at < bci && at >= best) {
			best = at;
			ret = line;
		}
	}
	return ret;
}
