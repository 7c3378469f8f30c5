// SPDX-License-Identifier: Apache-2.0
/* test_show.c - values of all types as text. argv[1]: an object with the BTF of odd.c, whose structs are
 * filled here in the layout of this compiler. */
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/image.h"
#include "values/show.h"
#include "types/btf.h"

#include "odd.c"

static int failed;
static struct arena *arena;
static struct type_source source;

static void check(int line, const struct type *t, const void *data, const char *wanted)
{
	struct show s = {};
	struct str text = {};

	show_value(&s, t, data, &text);
	if (strcmp(str_text(&text), wanted) != 0) {
		fprintf(stderr, "line %d: %s\n  is not %s\n", line, str_text(&text), wanted);
		failed = 1;
	}
	str_done(&text);
}

#define SHOWS(t, data, wanted) check(__LINE__, t, data, wanted)

static const struct type *find(enum type_tag tag, const char *name)
{
	const struct type *t = source.find(source.state, tag, name);

	if (!t) {
		fprintf(stderr, "%s is not there\n", name);
		exit(1);
	}
	return t;
}

static void test_bits(void)
{
	struct bits b = {.a = 5, .b = 30, .c = 0xabcde, .d = -200, .e = 0xff00000001, .f = 1, .g = BLUE};
	struct packed p = {.a = 100, .b = 61, .c = 6, .d = 0x2345678901234, .e = -7, .f = 9};
	struct tiny y = {.only = -3};

	SHOWS(find(TAG_STRUCT, "bits"), &b,
		"{ .a = 5, .b = 30, .c = 703710, .d = -200, .e = 1095216660481, .f = true, .g = BLUE }");
	SHOWS(find(TAG_STRUCT, "packed"), &p, "{ .a = 100, .b = 61, .c = 6, .d = 620495947960884, .e = -7, .f = 9 }");
	SHOWS(find(TAG_STRUCT, "tiny"), &y, "{ .only = -3 }");
}

static void test_holder(void)
{
	static struct holder h = {
		.x = -1, .y = 0x01020304, .grid = {{1, 2, 3}, {4, 5, -6}}, .name = "a\nname", .names = {"one", "two"},
		.next = (void *)0xffff888812345678, .text = (void *)4096, .depth = DEEP, .wide = WIDE, .small = SMALL,
		.big = ((__int128)7 << 64) + 8, .bits = {.g = 3},
	};

	SHOWS(find(TAG_STRUCT, "holder"), &h, "{ .x = -1, .y = 16909060, .z = [4,3,2,1], "
		".grid = [[1,2,3],[4,5,-6]], .name = a\\x0aname, .names = [one,two], .next = 0xffff888812345678, "
		".text = 0x1000, .call = 0x0, .any = 0x0, .unknown = 0x0, .depth = DEEP, .wide = WIDE, .small = SMALL, "
		".bits = { .a = 0, .b = 0, .c = 0, .d = 0, .e = 0, .f = false, .g = 3 }, "
		".packed = { .a = 0, .b = 0, .c = 0, .d = 0, .e = 0, .f = 0 }, .big = [8,7], .real = [0,0,0,0], "
		".nothing = {}, .pointers = [0x0,0x0,0x0,0x0], .tail = [] }");
}

static void test_flags(void)
{
	struct flags f = {.on = {1, 0}, .either = {.n = 258}, .colours = {RED, 5}, .tiny = {{1}, {-1}}};

	SHOWS(find(TAG_STRUCT, "flags"), &f, "{ .on = [true,false], .either = { .n = 258, .bytes = [2,1,0,0] }, "
		".colours = [RED,5], .tiny = [{ .only = 1 },{ .only = -1 }] }");
}

static void test_records(void)
{
	const struct type *members[] = {type_int64, type_string(arena, 8), find(TAG_ENUM, "colour")};
	const struct type *inner = type_tuple(arena, members, 1);
	struct {
		int64_t n;
		char text[8];
		unsigned colour;
	} v = {-4, "x", GREEN};

	SHOWS(type_record(arena, members, (const char *const[]){"a", "b", "c"}, 3), &v,
		"{ .a = -4, .b = x, .c = GREEN }");
	SHOWS(type_tuple(arena, members, 3), &v, "(-4, x, GREEN)");
	SHOWS(type_record(arena, &inner, (const char *const[]){"in"}, 1), &v, "{ .in = (-4) }");
	SHOWS(type_record(arena, NULL, (const char *const[]){NULL}, 0), &v, "{}");
}

static void format(const char *text, const struct type *t, const void *data, const char *wanted)
{
	struct show s = {};
	struct str out = {};
	struct image_arg arg = {.type = t, .offset = 0};
	struct image_record r = {.text = text, .text_len = (uint32_t)strlen(text), .args = &arg, .nargs = 1};

	show_format(&s, &r, data, &out);
	if (strcmp(str_text(&out), wanted) != 0) {
		fprintf(stderr, "%s: %s is not %s\n", text, str_text(&out), wanted);
		failed = 1;
	}
	str_done(&out);
}

static void test_formats(void)
{
	struct {
		uint32_t n;
		uint8_t bytes[12];
	} b = {5, "ab\n\\\xff"}, lies = {1000, "123456789012"};
	const struct type *t = type_buffer(arena, 12), *colour = find(TAG_ENUM, "colour");
	unsigned green = GREEN, none = 77;

	SHOWS(t, &b, "ab\\x0a\\\\xff");
	SHOWS(t, &lies, "123456789012");
	format("%r|", t, &b, "ab\\x0a\\\\xff|");
	format("%rx|", t, &b, "\\x61\\x62\\x0a\\x5c\\xff|");
	format("%rh|", t, &b, "61 62 0a 5c ff|");
	format("%s|", colour, &green, "GREEN|");
	format("%d|", colour, &green, "7|");
	format("%7s|", colour, &green, "  GREEN|");
	format("%s|", colour, &none, "77|");
	format("%x|", colour, &none, "4d|");
	format("%-12s|", find(TAG_STRUCT, "tiny"), &(struct tiny){2}, "{ .only = 2 }|");
}

int main(int argc, char **argv)
{
	struct btf *btf = argc < 2 ? NULL : btf__parse(argv[1], NULL);
	uint32_t size;
	const void *data = btf ? btf__raw_data(btf, &size) : NULL;

	if (!data)
		return 2;
	arena = arena_new();
	btf_source_blob(arena, data, size, &source);
	btf__free(btf);
	test_bits();
	test_holder();
	test_flags();
	test_records();
	test_formats();
	source.close(source.state);
	arena_free(arena);
	return failed;
}
