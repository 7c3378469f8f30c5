// SPDX-License-Identifier: Apache-2.0
/* sdt_args.c - reads the locations of USDT arguments in assembler syntax.
 *
 *     -4@%eax   8@-8(%rbp)   8@(%rax,%rbx,8)   4@$5   8@16+mp_(%rip)       x86_64
 *     -4@w0     8@[sp, 12]   8@[x0, x1, lsl 3] 4@5                         arm64
 *
 * The number before the @ is the size; it is negative for a signed argument. */
#include "sdt.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

#include "base/owner.h"

/* The unread part of an operand. */
struct cursor {
	const char *at, *end;
};

static void skip_spaces(struct cursor *c)
{
	while (c->at < c->end && isspace((unsigned char)*c->at))
		c->at++;
}

static bool take(struct cursor *c, char ch)
{
	skip_spaces(c);
	if (c->at >= c->end || *c->at != ch)
		return false;
	c->at++;
	return true;
}

static bool at_end(struct cursor *c)
{
	skip_spaces(c);
	return c->at >= c->end;
}

static char peek(struct cursor *c)
{
	skip_spaces(c);
	return c->at < c->end ? *c->at : '\0';
}

/* Reads a number: decimal, 0x.. or 0... A number that does not fit in 64 bits wraps, as in the assembler. */
static bool take_number(struct cursor *c, int64_t *ret)
{
	uint64_t n = 0;
	unsigned base = 10;

	if (!isdigit((unsigned char)peek(c)))
		return false;
	if (*c->at == '0' && c->end - c->at > 2 && (c->at[1] | 32) == 'x') {
		base = 16;
		c->at += 2;
	} else if (*c->at == '0') {
		base = 8;
	}
	for (; c->at < c->end && isxdigit((unsigned char)*c->at); c->at++) {
		unsigned digit = isdigit((unsigned char)*c->at) ? (unsigned)(*c->at - '0') :
								  (unsigned)((*c->at | 32) - 'a' + 10);

		if (digit >= base)
			break;
		n = n * base + digit;
	}
	*ret = (int64_t)n;
	return true;
}

static bool in_name(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_' || ch == '.' || ch == '$';
}

static struct cursor take_name(struct cursor *c)
{
	struct cursor name;

	skip_spaces(c);
	name = *c;
	while (c->at < c->end && in_name(*c->at))
		c->at++;
	name.end = c->at;
	return name;
}

static bool is_name(struct cursor name, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(name.end - name.at) == n && !memcmp(name.at, text, n);
}

static bool nowhere(struct sdt_arg *a, const char *why)
{
	a->where = SDT_NOWHERE;
	a->why = why;
	return false;
}

static bool not_understood(struct sdt_arg *a)
{
	return nowhere(a, "its note says where in a way that is not known");
}

/* Reads numbers and at most one symbol, with + and - between them. */
static bool take_sum(struct cursor *c, struct sdt_arg *a)
{
	bool minus = take(c, '-'), first = true;
	int64_t n;

	if (!minus)
		take(c, '+');
	do {
		if (!first)
			minus = c->at[-1] == '-';
		first = false;
		if (take_number(c, &n)) {
			a->disp = (int64_t)(minus ? (uint64_t)a->disp - (uint64_t)n :
						    (uint64_t)a->disp + (uint64_t)n);
		} else {
			struct cursor name = take_name(c);

			if (name.at == name.end || a->symbol || minus)
				return false;
			a->symbol = name.at;
			a->symbol_len = (size_t)(name.end - name.at);
		}
	} while (take(c, '+') || take(c, '-'));
	return true;
}

/* ---- x86_64 ---- */

static const char *const x86_wide[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"};
static const char *const x86_byte[] = {"al", "dl", "cl", "bl", "sil", "dil", "bpl", "spl"};
static const char *const x86_high[] = {"ah", "dh", "ch", "bh"};

struct reg {
	uint8_t number, size, shift; /* size in bytes, shift in bits */
};

/* Reads the number in r8 to r15, r8d, r8w, r8b. */
static bool x86_numbered(struct cursor name, struct reg *ret)
{
	unsigned n = 0;

	for (name.at++; name.at < name.end && isdigit((unsigned char)*name.at) && n < 16; name.at++)
		n = 10 * n + (unsigned)(*name.at - '0');
	if (n < 8 || n > 15 || name.end - name.at > 1)
		return false;
	ret->number = (uint8_t)n;
	ret->size = name.at == name.end ? 8 :
		    *name.at == 'd'	? 4 :
		    *name.at == 'w'	? 2 :
		    *name.at == 'b'	? 1 :
					  0;
	return ret->size != 0;
}

static bool x86_reg(struct cursor name, struct reg *ret)
{
	struct cursor less = {name.at + 1, name.end};

	*ret = (struct reg){};
	if (name.end - name.at < 2)
		return false;
	for (uint8_t i = 0; i < ARRAY_SIZE(x86_wide); i++) {
		ret->number = i;
		ret->size = is_name(name, x86_wide[i])	     ? 8 :
			    is_name(name, x86_wide[i] + 1)   ? 2 :
			    is_name(name, x86_byte[i])	     ? 1 :
			    *name.at == 'e' && is_name(less, x86_wide[i] + 1) ? 4 :
									0;
		if (ret->size)
			return true;
	}
	for (uint8_t i = 0; i < ARRAY_SIZE(x86_high); i++)
		if (is_name(name, x86_high[i])) {
			*ret = (struct reg){i, 1, 8};
			return true;
		}
	*ret = (struct reg){SDT_X86_RIP, 8, 0};
	return is_name(name, "rip") || (*name.at == 'r' && x86_numbered(name, ret));
}

/* Reads "%rax". wide: the register is part of an address. */
static bool x86_take_reg(struct cursor *c, struct sdt_arg *a, bool wide, struct reg *ret)
{
	struct cursor name;

	if (!take(c, '%'))
		return not_understood(a);
	name = take_name(c);
	if (peek(c) == ':')
		return nowhere(a, "it is in memory of the thread's own (fs, gs)");
	if (x86_reg(name, ret))
		return (!wide || ret->size == 8) || not_understood(a);
	if (name.end - name.at > 2 && (name.at[1] == 'm' || name.at[0] == 's'))
		return nowhere(a, "it is in a floating-point register, which BPF programs do not see");
	return not_understood(a);
}

/* Reads the part after the ( of "(%base)", "(%base,%index,8)", "(%rip)". */
static bool x86_address(struct cursor *c, struct sdt_arg *a)
{
	struct reg base = {SDT_X86_RIP, 8, 0}, index;
	int64_t scale = 1;

	if (!x86_take_reg(c, a, true, &base))
		return false;
	a->reg = base.number;
	if (take(c, ',')) {
		if (!x86_take_reg(c, a, true, &index))
			return false;
		if ((take(c, ',') && !take_number(c, &scale)) || scale < 1 || scale > 8 || (scale & (scale - 1)))
			return not_understood(a);
		a->index = index.number;
		a->scale = (uint8_t)scale;
	}
	return (take(c, ')') && at_end(c)) || not_understood(a);
}

static bool x86_memory(struct cursor *c, struct sdt_arg *a)
{
	if (peek(c) != '(' && !take_sum(c, a))
		return not_understood(a);
	a->where = a->symbol ? SDT_SYMBOL : SDT_MEMORY;
	if (!take(c, '('))
		return (a->symbol && at_end(c)) || not_understood(a);
	if (!x86_address(c, a))
		return false;
	/* sym(%rip) is the symbol's address; with other registers, or only rip, it is a sum */
	return a->reg == SDT_X86_RIP ? (a->symbol && !a->scale) || not_understood(a) :
				       !a->symbol || not_understood(a);
}

static bool x86_operand(struct cursor *c, struct sdt_arg *a)
{
	struct reg r;

	if (peek(c) == '%') {
		if (!x86_take_reg(c, a, false, &r))
			return false;
		a->where = SDT_REGISTER;
		a->reg = r.number;
		a->shift = r.shift;
		a->size = r.size < a->size ? r.size : a->size;
		return at_end(c) || not_understood(a);
	}
	if (!take(c, '$'))
		return x86_memory(c, a);
	if (!take_sum(c, a) || !at_end(c))
		return not_understood(a);
	a->where = a->symbol ? SDT_ADDRESS : SDT_CONSTANT;
	return true;
}

/* ---- arm64 ---- */

static bool arm64_reg(struct cursor name, struct reg *ret)
{
	unsigned n = 0;

	*ret = (struct reg){SDT_ARM64_SP, 8, 0};
	if (is_name(name, "sp"))
		return true;
	ret->size = 4;
	if (is_name(name, "wsp"))
		return true;
	if (name.end - name.at < 2 || name.end - name.at > 3 || (*name.at != 'x' && *name.at != 'w'))
		return false;
	for (const char *p = name.at + 1; p < name.end; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		n = 10 * n + (unsigned)(*p - '0');
	}
	*ret = (struct reg){(uint8_t)n, *name.at == 'x' ? 8 : 4, 0};
	return n < SDT_ARM64_SP;
}

static bool arm64_take_reg(struct cursor *c, struct sdt_arg *a, bool wide, struct reg *ret)
{
	struct cursor name = take_name(c);

	if (arm64_reg(name, ret))
		return (!wide || ret->size == 8) || not_understood(a);
	if (name.end - name.at >= 2 && strchr("bhsdqv", *name.at) && isdigit((unsigned char)name.at[1]))
		return nowhere(a, "it is in a floating-point register, which BPF programs do not see");
	return not_understood(a);
}

/* Reads the part after the [ of "[x0]", "[sp, 12]", "[x0, x1]", "[x0, x1, lsl 3]". */
static bool arm64_memory(struct cursor *c, struct sdt_arg *a)
{
	struct reg base = {}, index = {};
	int64_t shift = 0;

	a->where = SDT_MEMORY;
	if (!arm64_take_reg(c, a, true, &base))
		return false;
	a->reg = base.number;
	if (take(c, ',')) {
		take(c, '#');
		if (peek(c) != 'x' && peek(c) != 'w') {
			if (!take_sum(c, a) || a->symbol)
				return not_understood(a);
		} else if (!arm64_take_reg(c, a, true, &index)) {
			return false;
		} else {
			a->index = index.number;
			if (take(c, ',') && (!is_name(take_name(c), "lsl") || (take(c, '#'), !take_number(c, &shift)) ||
						    shift < 0 || shift > 3))
				return not_understood(a);
			a->scale = (uint8_t)(1 << shift);
		}
	}
	return (take(c, ']') && at_end(c)) || not_understood(a);
}

static bool arm64_operand(struct cursor *c, struct sdt_arg *a)
{
	struct cursor start;
	struct reg r;

	if (take(c, '['))
		return arm64_memory(c, a);
	take(c, '#');
	start = *c;
	a->where = SDT_CONSTANT;
	if (isdigit((unsigned char)peek(c)) || peek(c) == '-')
		return (take_sum(c, a) && !a->symbol && at_end(c)) || not_understood(a);
	if (is_name(take_name(c), "xzr") && at_end(c))
		return true;
	*c = start;
	if (is_name(take_name(c), "wzr") && at_end(c))
		return true;
	*c = start;
	a->where = SDT_REGISTER;
	if (!arm64_take_reg(c, a, false, &r))
		return false;
	a->reg = r.number;
	a->size = r.size < a->size ? r.size : a->size;
	return at_end(c) || not_understood(a);
}

/* ---- list of arguments ---- */

/* Returns the end of the operand: a space outside of brackets. */
static const char *operand_end(const char *p)
{
	int depth = 0;

	for (; *p && (depth > 0 || !isspace((unsigned char)*p)); p++)
		depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
	return p;
}

/* Reads "-4@" before the operand. The oldest macros leave it out; then the argument is 8 signed bytes. */
static bool take_size(struct cursor *c, struct sdt_arg *a)
{
	const char *sign = memchr(c->at, '@', (size_t)(c->end - c->at));
	int64_t n;

	a->size = 8;
	a->is_signed = true;
	if (!sign)
		return true;
	a->is_signed = take(c, '-');
	if (!take_number(c, &n))
		return not_understood(a);
	a->is_float = c->at < sign && *c->at == 'f';
	if (a->is_float && (n == 4 || n == 8))
		a->size = (uint8_t)n;
	if (a->is_float)
		return nowhere(a, "it is a floating-point number, which BPF programs do not have");
	if (n != 1 && n != 2 && n != 4 && n != 8)
		return nowhere(a, "its size is not 1, 2, 4 or 8 bytes");
	a->size = (uint8_t)n;
	return take(c, '@') || not_understood(a);
}

unsigned sdt_args(const char *text, uint16_t machine, struct sdt_arg ret[SDT_ARGS_MAX])
{
	unsigned n = 0;

	for (;;) {
		struct cursor c = {};
		struct sdt_arg *a = &ret[n];

		while (isspace((unsigned char)*text))
			text++;
		if (!*text || n == SDT_ARGS_MAX)
			return n;
		c.at = text;
		c.end = text = operand_end(text);
		*a = (struct sdt_arg){};
		n++;
		if (!take_size(&c, a))
			continue;
		if (machine == EM_X86_64)
			x86_operand(&c, a);
		else if (machine == EM_AARCH64)
			arm64_operand(&c, a);
		else
			not_understood(a);
	}
}
