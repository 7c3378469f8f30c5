// SPDX-License-Identifier: Apache-2.0
/* work.c - calls many functions of libc; step.c steps it. */
#include <ctype.h>
#include <regex.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(char *text)
{
	char *words[64], *next = text;
	size_t n = 0;

	for (char *w; n < 64 && (w = strsep(&next, " "));)
		words[n++] = strdup(w);
	qsort(words, n, sizeof(*words), compare);
	for (size_t i = 0; i < n; i++) {
		printf("%-12s|%5zu|%8.3f\n", words[i], strlen(words[i]), strtod("3.25e2", NULL) / (i + 1));
		free(words[i]);
	}
}

static void match(const char *text)
{
	regmatch_t found[2];
	regex_t re;

	if (regcomp(&re, "([a-z]+)ing", REG_EXTENDED))
		exit(1);
	while (!regexec(&re, text, 2, found, 0))
		text += found[0].rm_eo;
	regfree(&re);
}

static void jump(int n)
{
	jmp_buf to;

	if (!setjmp(to) && n)
		longjmp(to, n);
}

int main(void)
{
	for (int i = 0;; i++) {
		char text[] = "stepping through everything that a library is doing while nobody is looking", line[128];
		wchar_t wide[64];
		time_t now = 1000000000 + i * 86400;
		struct tm tm;

		sort(text);
		match("walking and talking, singing and dancing");
		jump(i);
		mbstowcs(wide, "wide characters", 64);
		strftime(line, sizeof(line), "%A %d %B %Y %H:%M:%S", gmtime_r(&now, &tm));
		if (sscanf("12 apples 0x1f", "%d %15s %i", &i, line, &i) != 3)
			return 1;
		memmove(line + 1, line, toupper('c'));
		free(realloc(calloc(i % 7 + 1, 1000), 50000));
		fflush(stdout);
	}
}
