// SPDX-License-Identifier: Apache-2.0
/* stubs.c - stubs of the fuzzer for the names of live frames, and for messages. */
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "values/frames.h"
#include "values/match.h"
#include "values/show.h"
#include "base/why.h"
#include "target/target.h"
#include "unwinders/unwinders.h"

static void make(const char *fmt, va_list ap)
{
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	make(fmt, ap);
	va_end(ap);
}

void log_hint(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	make(fmt, ap);
	va_end(ap);
}

const char *why_errno(int r)
{
	return "";
}

bool target_ksym(struct target *t, uint64_t addr, const char **ret_name, uint64_t *ret_offset, const char **ret_module)
{
	return false;
}

void unwinders_name_address(struct unwinders *u, uint32_t pid, uint64_t addr, struct frame_name *ret)
{
}

size_t unwinders_build_id(struct unwinders *u, uint64_t frame, uint8_t ret[64])
{
	return 0;
}

const char *unwind_end_text(enum unwind_end e)
{
	return "";
}

void frames_get(const struct show *s, const struct type *t, uint64_t id, struct frame_list *ret)
{
}

void frames_done(struct frame_list *l)
{
}

void show_folded(const struct type *t, const struct frame_list *l, struct str *out)
{
}

void show_place_name(const struct show *s, bool func, uint64_t i, struct str *out)
{
}

const char *frames_jit_name(const struct frame_name *f)
{
	return NULL;
}

bool frames_match(const struct frame_list *l, const struct frame_pattern *p)
{
	return false;
}
