// SPDX-License-Identifier: Apache-2.0
/* many.c CAPTURE - the number of kept frames and scripts of V8 has a limit, and no name is lost when they are
 * forgotten: one frame of each of many processes, and more frames than the limit. Prints TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "heapfile.h"
#include "unwinders/unwinders.h"

/* More than src/unwinders/v8/ keeps: scripts.c, SCRIPTS_MAX; code.c, FRAMES_MAX twice. */
enum { PROCESSES = 70000, FRAMES = 1200000 };

static unsigned cases, failed;

static void check(bool ok, const char *name, unsigned wrong)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++cases, name);
	if (!ok)
		printf("# %u are not\n", wrong);
	failed += !ok;
}

static bool is_told(const struct heapfile *f, const struct frame_name *name)
{
	_cleanup_(str_done) struct str found = {};

	heapfile_told(name, &found);
	return found.len == f->head.told && !memcmp(found.data, f->data + f->head.told_at, found.len);
}

static uint64_t frame_of(const struct heapfile *f, unsigned i)
{
	return FRAME_JS(2 * i + 1, f->head.frame & 0xfffff);
}

static void many_processes(struct heapfile *f, struct v8_codes *c)
{
	struct v8_layout layout;
	const struct v8_heap heap = { &layout, heapfile_read, f };
	struct frame_name name;
	struct v8_record r;
	unsigned wrong = 0;

	heapfile_layout(f, &layout);
	heapfile_record(f, &r);
	for (unsigned i = 0; i < PROCESSES; i++) {
		r.head.pid = 1 + i;
		r.frame = frame_of(f, i);
		v8_codes_record(c, &r, &heap);
		wrong += !v8_codes_name(c, r.frame, &name) || !is_told(f, &name);
	}
	check(!wrong, "frames of 70,000 processes are named with their lines", wrong);
}

/* Names of processes that have ended, by the record. */
static void many_frames(struct heapfile *f, struct v8_codes *c)
{
	struct frame_name name;
	struct v8_record r;
	unsigned wrong = 0;

	heapfile_record(f, &r);
	for (unsigned i = PROCESSES; i < FRAMES; i++) {
		r.frame = frame_of(f, i);
		v8_codes_record(c, &r, NULL);
		wrong += !v8_codes_name(c, r.frame, &name) || !name.name || !*name.name;
	}
	check(!wrong, "1,200,000 frames have names when they come", wrong);
	wrong = 0;
	for (unsigned i = FRAMES - 500000; i < FRAMES; i++)
		wrong += !v8_codes_name(c, frame_of(f, i), &name);
	check(!wrong, "the last half million is kept", wrong);
	check(!v8_codes_name(c, frame_of(f, 0), &name), "the first is not", 1);
}

int main(int argc, char **argv)
{
	static struct heapfile f;
	static uint8_t data[HEAPFILE_MAX];
	FILE *in = argc == 2 ? fopen(argv[1], "re") : NULL;
	size_t size = in ? fread(data, 1, sizeof(data), in) : 0;
	struct v8_codes *c = v8_codes_new();

	if (!c || !heapfile_open(&f, data, size)) {
		fprintf(stderr, "usage: many CAPTURE\n");
		return 2;
	}
	fclose(in);
	many_processes(&f, c);
	many_frames(&f, c);
	v8_codes_free(c);
	printf("1..%u\n", cases);
	return failed;
}
