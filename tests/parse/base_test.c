// SPDX-License-Identifier: Apache-2.0
/* base_test.c - strings, patterns, source positions, similar names, and how errors are
 * printed: what a script cannot test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/check.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/owner.h"
#include "base/str.h"

static void test_str(void)
{
	struct str s = {};

	CHECK_STR(str_text(&s), "");
	str_addf(&s, "%d-%s", 7, "x");
	str_addc(&s, '!');
	CHECK_STR(str_text(&s), "7-x!");
	str_clear(&s);
	for (int i = 0; i < 1000; i++)
		str_add(&s, "abc");
	CHECK(s.len == 3000 && strlen(s.data) == 3000);
	str_done(&s);
}

/* Control characters are escaped; valid UTF-8 is not. */
static void test_safe(void)
{
	static const char hostile[] =
		"a\033[1m\n\302\205\300\257\355\240\200\377 \303\244\360\237\220\235\303";
	struct str s = {};

	str_add_safe(&s, hostile, sizeof(hostile) - 1);
	CHECK_STR(str_text(&s), "a\\x1b[1m\\x0a\\xc2\\x85\\xc0\\xaf\\xed\\xa0\\x80\\xff "
				"\303\244\360\237\220\235\\xc3");
	str_done(&s);
}

static void test_glob(void)
{
	CHECK(glob_match("*", ""));
	CHECK(glob_match("vfs_*", "vfs_read"));
	CHECK(!glob_match("vfs_*", "do_vfs_read"));
	CHECK(glob_match("*read*", "do_vfs_readv"));
	CHECK(glob_match("a*b*c", "aXbbYbc"));
	CHECK(!glob_match("a*b*c", "aXbbYb"));
	CHECK(!glob_match("", "a"));
	CHECK(!glob_match("a?c", "abc"));
}

static void test_nearest(void)
{
	static const char *const names[] = {"count", "comm", "pid", "printf", "print"};
	size_t n = ARRAY_SIZE(names);

	CHECK_STR(nearest("coutn", names, n), "count");
	CHECK_STR(nearest("PID", names, n), "pid");
	CHECK_STR(nearest("prinf", names, n), "printf");
	CHECK_STR(nearest("prinft", names, n), "printf");
	CHECK(!nearest("elephant", names, n));
	CHECK(!nearest("x", names, n));
	CHECK(!nearest("", names, n));
}

static void test_position(void)
{
	struct source s = {.name = "x", .text = "ab\n\ncd", .len = 6};
	unsigned line, col;

	source_position(&s, 1, &line, &col);
	CHECK(line == 1 && col == 2);
	source_position(&s, 3, &line, &col);
	CHECK(line == 2 && col == 1);
	source_position(&s, 99, &line, &col);
	CHECK(line == 3 && col == 3);
}

static char *printed(const struct diags *d, bool colour)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	diags_print(d, f, colour);
	fclose(f);
	return text;
}

/* Errors are printed in the order of the source, each once; tabs and UTF-8 keep their columns. */
static void test_diags(void)
{
	struct arena *a = arena_new();
	struct source s = {.name = "x", .text = "\t\303\244 bad\nworse\n", .len = 13};
	struct diags *d = diags_new(a, &s);
	char *text;

	diag_warn(d, (struct span){8, 13}, DIAG_UNUSED, "second");
	CHECK(!diags_failed(d));
	diag(d, (struct span){4, 12}, DIAG_SYNTAX, "first %d", 1);
	diag_note(d, (struct span){1, 3}, "over there");
	diag_hint(d, "do better");
	diag(d, (struct span){4, 12}, DIAG_SYNTAX, "first %d", 1);
	CHECK(diags_failed(d));
	text = printed(d, false);
	CHECK_STR(text,
		"x:1:5: error: first 1 [syntax]\n    \t\303\244 bad\n    \t  ^^^\n"
		"x:1:2: note: over there\n    \t\303\244 bad\n    \t^\n"
		"hint: do better\n"
		"x:2:1: warning: second [unused]\n    worse\n    ^^^^^\n");
	free(text);
	text = printed(d, true);
	CHECK(strstr(text, "\033[1;31merror:\033[0m"));
	free(text);
	for (int i = 3; i < 100; i++) {
		CHECK(!diags_full(d));
		diag(d, (struct span){8, 9}, DIAG_SYNTAX, "error %d", i);
	}
	CHECK(diags_full(d));
	diag(d, (struct span){9, 10}, DIAG_SYNTAX, "not kept");
	diag_note(d, (struct span){9, 10}, "nor its note");
	text = printed(d, false);
	CHECK(strstr(text, "error 99") && !strstr(text, "not kept") && !strstr(text, "nor its note"));
	free(text);
	arena_free(a);
}

/* A cursor that moves forward and back has the same position as one from the start. */
static void test_cursor(void)
{
	struct source s = {.name = "x", .text = "one\n\ntwo\nthree\n", .len = 15};
	static const uint32_t stops[] = {0, 3, 4, 5, 14, 15, 99, 9, 5, 4, 3, 8, 0};
	struct source_cursor c = {};

	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		unsigned line, col;

		source_move(&s, &c, stops[i]);
		source_position(&s, stops[i], &line, &col);
		CHECK(c.lines + 1 == line && c.at - c.line_start + 1 == col);
	}
}

int main(void)
{
	test_str();
	test_safe();
	test_glob();
	test_nearest();
	test_position();
	test_diags();
	test_cursor();
	return failed;
}
