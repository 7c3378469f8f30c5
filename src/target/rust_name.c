// SPDX-License-Identifier: Apache-2.0
/* rust_name.c - demangles Rust's v0 scheme (rustc book, "v0 Symbol Format"; RFC 2603). */
#include "rust_name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { DEPTH_MAX = 128, STEPS_MAX = 1 << 16, LENGTH_MAX = 4096, PUNYCODE_MAX = 256 };

struct name {
	const char *p, *start; /* start: after "_R"; back references count from there */
	struct str *out;
	unsigned depth, steps;
	bool silent;           /* parts that are not shown */
	bool bad;
};

static void path(struct name *n, bool in_value);
static void type(struct name *n);
static void constant(struct name *n, bool in_value);

/* ---- text ------------------------------------------------------------------------- */

static void add(struct name *n, const char *text)
{
	if (n->out->len > LENGTH_MAX)
		n->bad = true;
	else if (!n->silent && !n->bad)
		str_add(n->out, text);
}

static bool eat(struct name *n, char c)
{
	if (*n->p != c)
		return false;
	n->p++;
	return true;
}

/* Returns false at the end of a limit. Each call is paired with leave(). */
static bool enter(struct name *n)
{
	n->bad |= ++n->depth > DEPTH_MAX || ++n->steps > STEPS_MAX;
	return !n->bad;
}

static void leave(struct name *n)
{
	n->depth--;
}

static uint64_t base62(struct name *n)
{
	uint64_t v = 0;

	if (eat(n, '_'))
		return 0;
	while (!eat(n, '_')) {
		char c = *n->p;
		uint64_t digit = c >= '0' && c <= '9' ? (uint64_t)(c - '0') :
			c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a' + 10) :
			c >= 'A' && c <= 'Z' ? (uint64_t)(c - 'A' + 36) : 62;

		if (digit == 62 || __builtin_mul_overflow(v, 62, &v) || __builtin_add_overflow(v, digit, &v)) {
			n->bad = true;
			return 0;
		}
		n->p++;
	}
	return v + 1;
}

/* A number after a tag, or 0 without the tag. */
static uint64_t tagged(struct name *n, char tag)
{
	return eat(n, tag) ? base62(n) + 1 : 0;
}

static uint64_t decimal(struct name *n)
{
	uint64_t v = 0;

	if (*n->p < '0' || *n->p > '9') {
		n->bad = true;
		return 0;
	}
	if (eat(n, '0'))
		return 0;
	while (*n->p >= '0' && *n->p <= '9' && v < LENGTH_MAX)
		v = v * 10 + (uint64_t)(*n->p++ - '0');
	return v;
}

/* ---- punycode (RFC 3492) ------------------------------------------------------------ */

static unsigned adapt(unsigned delta, unsigned points, bool first)
{
	unsigned k = 0;

	delta = first ? delta / 700 : delta / 2;
	delta += delta / points;
	for (; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

/* Decodes a number of variable length, in units of weight. */
static bool punycode_delta(const char **p, const char *end, unsigned bias, unsigned *i)
{
	unsigned w = 1;

	for (unsigned k = 36;; k += 36) {
		unsigned t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias, digit;
		char c = *p < end ? *(*p)++ : 0;

		digit = c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') :
			c >= '0' && c <= '9' ? (unsigned)(c - '0' + 26) : 36;
		if (digit == 36 || digit > (1u << 24) / w)
			return false;
		*i += digit * w;
		if (digit < t)
			return *i < 1u << 24;
		w *= 36 - t;
		if (w > 1u << 24)
			return false;
	}
}

static bool punycode(const char *p, size_t size, uint32_t points[PUNYCODE_MAX], unsigned *ret_n)
{
	const char *end = p + size, *plain = NULL;
	unsigned n = 128, bias = 72, len = 0, i = 0, before;

	for (const char *c = p; c < end; c++)
		if (*c == '_')
			plain = c;
	for (; plain && p < plain; p++)
		if (len < PUNYCODE_MAX)
			points[len++] = (unsigned char)*p;
	p += plain != NULL;
	while (p < end) {
		before = i;
		if (len >= PUNYCODE_MAX || !punycode_delta(&p, end, bias, &i))
			return false;
		bias = adapt(i - before, ++len, before == 0);
		n += i / len;
		i %= len;
		memmove(points + i + 1, points + i, (len - 1 - i) * sizeof(*points));
		points[i++] = n;
	}
	*ret_n = len;
	return true;
}

/* ---- identifiers -------------------------------------------------------------------- */

struct identifier {
	const char *text;
	size_t size;
	uint64_t disambiguator;
	bool is_punycode;
};

static struct identifier identifier(struct name *n)
{
	struct identifier i = {.disambiguator = tagged(n, 's'), .is_punycode = eat(n, 'u')};

	i.size = decimal(n);
	eat(n, '_');
	if (n->bad || strnlen(n->p, i.size) < i.size) {
		n->bad = true;
		return (struct identifier){};
	}
	i.text = n->p;
	n->p += i.size;
	return i;
}

static void add_identifier(struct name *n, const struct identifier *i)
{
	uint32_t points[PUNYCODE_MAX];
	unsigned len;

	if (n->silent || n->bad)
		return;
	if (!i->is_punycode) {
		str_addn(n->out, i->text, i->size);
	} else if (punycode(i->text, i->size, points, &len)) {
		for (unsigned k = 0; k < len; k++)
			str_add_char(n->out, points[k]);
	} else {
		n->bad = true;
	}
}

/* ---- paths -------------------------------------------------------------------------- */

/* Goes on at an earlier place, then comes back. */
static void back(struct name *n, void (*read)(struct name *n, bool in_value), bool in_value)
{
	const char *here = n->p - 1, *after;
	uint64_t to = base62(n);

	after = n->p;
	if (n->bad || to >= (uint64_t)(here - n->start)) {
		n->bad = true;
		return;
	}
	if (n->silent) /* it was read already */
		return;
	n->p = n->start + to;
	read(n, in_value);
	n->p = after;
}

static void back_to_type(struct name *n, bool in_value)
{
	(void)in_value;
	type(n);
}

/* The path of an impl is not shown. */
static void skip_impl(struct name *n)
{
	bool silent = n->silent;

	tagged(n, 's');
	n->silent = true;
	path(n, false);
	n->silent = silent;
}

static void nested(struct name *n, bool in_value)
{
	char space = *n->p ? *n->p++ : 0;
	struct identifier i;
	char number[40];

	path(n, in_value);
	i = identifier(n);
	if (space >= 'A' && space <= 'Z') {
		add(n, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
		if (space != 'C' && space != 'S')
			add(n, (char[]){space, 0});
		add(n, i.size ? ":" : "");
		add_identifier(n, &i);
		snprintf(number, sizeof(number), "#%llu}", (unsigned long long)i.disambiguator);
		add(n, number);
	} else if (i.size) {
		add(n, "::");
		add_identifier(n, &i);
	}
}

static void argument(struct name *n)
{
	if (eat(n, 'L'))
		base62(n); /* lifetimes are not shown */
	else if (eat(n, 'K'))
		constant(n, false);
	else
		type(n);
}

/* Reads the arguments after "open", which is taken back if all are lifetimes. Returns whether any is shown. */
static bool arguments(struct name *n, const char *open)
{
	size_t before = n->out->len, opened;

	add(n, open);
	opened = n->out->len;
	while (!n->bad && *n->p && !eat(n, 'E')) {
		bool lifetime = *n->p == 'L';

		add(n, !lifetime && n->out->len > opened ? ", " : "");
		argument(n);
	}
	if (n->out->len != opened)
		return true;
	n->out->len = before;
	if (n->out->data)
		n->out->data[before] = '\0';
	return false;
}

static void trait_of_type(struct name *n)
{
	add(n, "<");
	type(n);
	add(n, " as ");
	path(n, false);
	add(n, ">");
}

static void path(struct name *n, bool in_value)
{
	struct identifier i;

	if (enter(n)) {
		switch (*n->p++) {
		case 'C':
			i = identifier(n);
			add_identifier(n, &i);
			break;
		case 'M':
			skip_impl(n);
			add(n, "<");
			type(n);
			add(n, ">");
			break;
		case 'X':
			skip_impl(n);
			trait_of_type(n);
			break;
		case 'Y':
			trait_of_type(n);
			break;
		case 'N':
			nested(n, in_value);
			break;
		case 'I':
			path(n, in_value);
			add(n, arguments(n, in_value ? "::<" : "<") ? ">" : "");
			break;
		case 'B':
			back(n, path, in_value);
			break;
		default:
			n->p--;
			n->bad = true;
		}
	}
	leave(n);
}

/* ---- types -------------------------------------------------------------------------- */

static const char *basic(char c)
{
	static const char *const names[26] = {"i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize", "usize",
		NULL, "i32", "u32", "i128", "u128", "_", NULL, NULL, "i16", "u16", "()", "...", NULL, "i64", "u64",
		"!"};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void tuple(struct name *n)
{
	unsigned i = 0;

	add(n, "(");
	for (; !n->bad && *n->p && !eat(n, 'E'); i++) {
		add(n, i ? ", " : "");
		type(n);
	}
	add(n, i == 1 ? ",)" : ")");
}

static void function_type(struct name *n)
{
	unsigned i = 0;
	struct identifier abi;

	tagged(n, 'G');
	if (eat(n, 'U'))
		add(n, "unsafe ");
	if (eat(n, 'K')) {
		add(n, "extern \"");
		if (eat(n, 'C')) {
			add(n, "C");
		} else {
			abi = identifier(n);
			add_identifier(n, &abi);
		}
		add(n, "\" ");
	}
	add(n, "fn(");
	for (; !n->bad && *n->p && !eat(n, 'E'); i++) {
		add(n, i ? ", " : "");
		type(n);
	}
	add(n, ")");
	if (eat(n, 'u'))
		return;
	add(n, " -> ");
	type(n);
}

static bool open_path(struct name *n);

static bool open_path_back(struct name *n)
{
	const char *here = n->p - 1, *after;
	uint64_t to = base62(n);
	bool open;

	n->bad |= to >= (uint64_t)(here - n->start);
	if (n->bad || n->silent)
		return false;
	after = n->p;
	n->p = n->start + to;
	open = open_path(n);
	n->p = after;
	return open;
}

/* Reads a path, and leaves the list of its arguments open. Returns whether there is one. */
static bool open_path(struct name *n)
{
	bool open = false;

	if (!enter(n)) {
		leave(n);
		return false;
	}
	if (eat(n, 'B')) {
		open = open_path_back(n);
	} else if (eat(n, 'I')) {
		path(n, false);
		open = arguments(n, "<");
	} else {
		path(n, false);
	}
	leave(n);
	return open;
}

/* A trait's bindings are arguments: dyn Iterator<Item = u8>. */
static void dyn_trait(struct name *n)
{
	bool any = open_path(n);
	struct identifier i;

	while (!n->bad && eat(n, 'p')) {
		add(n, any ? ", " : "<");
		any = true;
		i = identifier(n);
		add_identifier(n, &i);
		add(n, " = ");
		type(n);
	}
	add(n, any ? ">" : "");
}

static void dyn(struct name *n)
{
	tagged(n, 'G');
	add(n, "dyn ");
	for (unsigned i = 0; !n->bad && *n->p && !eat(n, 'E'); i++) {
		add(n, i ? " + " : "");
		dyn_trait(n);
	}
	if (eat(n, 'L'))
		base62(n);
	else
		n->bad = true;
}

static void reference(struct name *n, const char *text)
{
	add(n, text);
	if (*text == '&' && eat(n, 'L'))
		base62(n);
	type(n);
}

static void array(struct name *n, bool has_length)
{
	add(n, "[");
	type(n);
	if (has_length) {
		add(n, "; ");
		constant(n, true);
	}
	add(n, "]");
}

static void other_type(struct name *n, char c)
{
	switch (c) {
	case 'A':
	case 'S':
		array(n, c == 'A');
		break;
	case 'T':
		tuple(n);
		break;
	case 'R':
		reference(n, "&");
		break;
	case 'Q':
		reference(n, "&mut ");
		break;
	case 'P':
		reference(n, "*const ");
		break;
	case 'O':
		reference(n, "*mut ");
		break;
	case 'F':
		function_type(n);
		break;
	case 'D':
		dyn(n);
		break;
	case 'B':
		back(n, back_to_type, false);
		break;
	default:
		n->p--;
		path(n, false);
	}
}

static void type(struct name *n)
{
	const char *name;

	if (enter(n)) {
		name = basic(*n->p);
		if (*n->p)
			n->p++;
		if (name)
			add(n, name);
		else
			other_type(n, n->p[-1]);
	}
	leave(n);
}

/* ---- constants ------------------------------------------------------------------------ */

static void integer(struct name *n, char kind)
{
	const char *digits;
	char number[40];
	size_t size;

	if (eat(n, 'n'))
		add(n, "-");
	digits = n->p;
	size = strspn(digits, "0123456789abcdef");
	n->p += size;
	if (!eat(n, '_') || size > 32) {
		n->bad = true;
		return;
	}
	if (size > 16)
		snprintf(number, sizeof(number), "0x%.*s", (int)size, digits);
	else if (kind == 'b')
		snprintf(number, sizeof(number), "%s", strtoull(digits, NULL, 16) ? "true" : "false");
	else
		snprintf(number, sizeof(number), "%llu", strtoull(digits, NULL, 16));
	add(n, number);
}

static void character(struct name *n)
{
	unsigned long c = strtoul(n->p, NULL, 16);

	n->p += strspn(n->p, "0123456789abcdef");
	if (!eat(n, '_') || c > 0x10ffff) {
		n->bad = true;
		return;
	}
	add(n, "'");
	if (!n->silent && !n->bad)
		str_add_char(n->out, (uint32_t)c);
	add(n, "'");
}

/* Strings, references and structs as constants are rare: they are read, and shown as "..". */
static void list_of(struct name *n, bool named)
{
	while (!n->bad && *n->p && !eat(n, 'E')) {
		if (named)
			identifier(n);
		constant(n, true);
	}
}

static void structured(struct name *n, char c)
{
	bool silent = n->silent;

	add(n, "..");
	n->silent = true;
	if (c == 'e') {
		n->p += strspn(n->p, "0123456789abcdef");
		n->bad |= !eat(n, '_');
	} else if (c == 'R' || c == 'Q') {
		constant(n, true);
	} else if (c == 'A' || c == 'T') {
		list_of(n, false);
	} else { /* V: a path, then U (unit), T (tuple) or S (struct) */
		path(n, true);
		c = *n->p ? *n->p++ : 0;
		if (c == 'T' || c == 'S')
			list_of(n, c == 'S');
		else
			n->bad |= c != 'U';
	}
	n->silent = silent;
}

static void constant(struct name *n, bool in_value)
{
	char c;

	if (enter(n)) {
		c = *n->p ? *n->p++ : 0;
		if (c == 'p')
			add(n, "_");
		else if (c == 'B')
			back(n, constant, in_value);
		else if (c == 'c')
			character(n);
		else if (c && strchr("abhijlmnostxy", c))
			integer(n, c);
		else if (c && strchr("eRQATV", c))
			structured(n, c);
		else
			n->bad = true;
	}
	leave(n);
}

/* ---- whole names ------------------------------------------------------------------------ */

bool rust_name(const char *mangled, struct str *out)
{
	size_t before = out->len;
	struct name n = {.out = out};

	if (strncmp(mangled, "_R", 2) != 0)
		return false;
	n.p = n.start = mangled + 2;
	if (*n.p >= '0' && *n.p <= '9') /* a version that is not known yet */
		return false;
	path(&n, true);
	n.silent = true;
	if (!n.bad && *n.p >= 'A' && *n.p <= 'Z') /* the crate that needed the copy */
		path(&n, false);
	if (n.bad || (*n.p && *n.p != '.' && *n.p != '$')) {
		out->len = before;
		if (out->data)
			out->data[before] = '\0';
		return false;
	}
	return true;
}

/* ---- older names -------------------------------------------------------------------------- */

#define HASH "::h0123456789abcdef"

static bool drop_hash(char *s)
{
	size_t n = strlen(s), tail = strlen(HASH);

	if (n <= tail || strncmp(s + n - tail, "::h", 3) != 0 ||
		strspn(s + n - tail + 3, "0123456789abcdef") != tail - 3)
		return false;
	s[n - tail] = '\0';
	return true;
}

/* rustc_demangle's legacy.rs lists the escapes. Returns the size of the escape, or 0. */
static size_t escape(const char *s, char *ret)
{
	static const struct {
		const char *name;
		char c;
	} rows[] = {{"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'}, {"$LT$", '<'}, {"$GT$", '>'}, {"$LP$", '('},
		{"$RP$", ')'}, {"$C$", ','}};
	unsigned long c;
	char *end;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(s, rows[i].name, strlen(rows[i].name))) {
			*ret = rows[i].c;
			return strlen(rows[i].name);
		}
	if (s[0] != '$' || s[1] != 'u')
		return 0;
	c = strtoul(s + 2, &end, 16);
	if (end == s + 2 || *end != '$' || c < 0x20 || c > 0x7e)
		return 0;
	*ret = (char)c;
	return (size_t)(end - s) + 1;
}

bool rust_old_name(char *name)
{
	char *to = name;

	if (!drop_hash(name))
		return false;
	for (const char *s = name; *s;) {
		size_t n = escape(s, to);

		if (n) {
			to++;
			s += n;
		} else if (s[0] == '.' && s[1] == '.') {
			*to++ = ':';
			*to++ = ':';
			s += 2;
		} else if (s[0] == '_' && s[1] == '$' && (s == name || s[-1] == ':')) {
			s++; /* an identifier cannot begin with an escape */
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
	return true;
}
