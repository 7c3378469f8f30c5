// SPDX-License-Identifier: Apache-2.0
/* log.c - messages on stderr. */
#include "log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/str.h"

int log_level;
bool log_warnings = true;
unsigned log_errors;
unsigned log_said;

static bool has_progress;

void log_progress(const char *fmt, ...)
{
	struct str line = {};
	va_list ap;

	if (!isatty(STDERR_FILENO))
		return;
	if (has_progress || fmt)
		str_add(&line, "\r\033[K");
	if (fmt) {
		va_start(ap, fmt);
		str_addvf(&line, fmt, ap);
		va_end(ap);
	}
	has_progress = fmt;
	fwrite(str_text(&line), 1, line.len, stderr);
	str_done(&line);
}

/* Writes a message as one safe line, since names in it come from outside. */
static void log_line(const char *kind, const char *fmt, va_list ap)
{
	struct str line = {}, text = {};

	if (has_progress)
		log_progress(NULL);
	str_add(&line, kind);
	str_addvf(&text, fmt, ap);
	str_add_safe(&line, str_text(&text), text.len);
	str_addc(&line, '\n');
	fwrite(str_text(&line), 1, line.len, stderr); /* one write, since other processes may write to stderr, too */
	str_done(&line);
	str_done(&text);
}

#define LOG(name, kind, level)                                                           \
	void name(const char *fmt, ...)                                                  \
	{                                                                                \
		va_list ap;                                                              \
                                                                                         \
		log_said += (level) != 1;                                                \
		if (log_level < (level))                                                 \
			return;                                                          \
		va_start(ap, fmt);                                                       \
		log_line(kind, fmt, ap);                                                 \
		va_end(ap);                                                              \
	}

void log_error(const char *fmt, ...)
{
	va_list ap;

	log_said++;
	if (log_level <= LOG_NOTHING)
		return;
	log_errors++;
	va_start(ap, fmt);
	log_line("error: ", fmt, ap);
	va_end(ap);
}

LOG(log_warn, "warning: ", log_warnings ? 0 : INT_MAX)
LOG(log_hint, "hint: ", -1)
LOG(log_info, "info: ", 1)

void log_memory_short(const char *missing)
{
	static bool reported;
	char why[128];

	if (reported)
		return;
	reported = true;
	memory_limit(why, sizeof(why));
	log_warn("memory is short (%s): %s", why, missing);
}
