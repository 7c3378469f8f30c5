// SPDX-License-Identifier: Apache-2.0
/* output.c - the list of formats. See output.h. */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "collect.h"
#include "recording.h"
#include "rows.h"
#include "stream.h"
#include "totals.h"

enum { LOSSES_SHOWN = 16 };

const struct output *const outputs[] = {
#define O(name) &output_##name,
#include "outputs.def"
#undef O
	NULL,
};

const struct output *output_by_name(const char *name)
{
	for (const struct output *const *o = outputs; *o; o++)
		if (!strcmp((*o)->name, name))
			return *o;
	return NULL;
}

/* Returns the length of the ending, with its dot, at the end of a file's name of n bytes, or 0 if it
 * has none of the endings. */
static size_t ending_of(const struct output *o, const char *file, size_t n)
{
	for (const char *p = o->endings; p && *p; p += strcspn(p, " "), p += *p == ' ') {
		size_t len = strcspn(p, " ");

		if (len < n && file[n - len - 1] == '.' && !memcmp(file + n - len, p, len))
			return len + 1;
	}
	return 0;
}

const struct output *output_by_file(const char *file)
{
	const struct output *found = outputs[0];
	size_t n = file ? strlen(file) : 0, longest = 0, pack;

	for (int packed = 0; packed < 2; packed++) {
		for (const struct output *const *o = outputs; *o; o++) {
			size_t len = ending_of(*o, file, n);

			if (len > longest) {
				longest = len;
				found = *o;
			}
		}
		if (longest || pack_by_name(file, &pack) == PACK_NONE)
			break;
		n -= pack;
	}
	return found;
}

bool output_check_file(const char *file)
{
	static const char *const foreign[] = {
		"png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff", "pdf", "ps", "eps", "svgz", "pb",
	};
	static const char *const pictures[] = {"folded", "html", "json", "pprof", "svg"};
	const char *dot = strrchr(file, '.'), *near;
	struct str endings = {};
	bool ok = true;

	for (size_t i = 0; dot && i < ARRAY_SIZE(foreign); i++)
		ok &= strcasecmp(dot + 1, foreign[i]) != 0;
	near = NULL;
	if (ok && dot && output_by_file(file) == outputs[0])
		near = nearest(dot + 1, pictures, ARRAY_SIZE(pictures));
	if (near && strcmp(near, dot + 1) != 0) {
		log_error("%s: strata does not write files of this kind", file);
		log_hint("did you mean %.*s.%s?", (int)(dot - file), file, near);
		return false;
	}
	if (ok)
		return true;
	for (const struct output *const *o = outputs; *o; o++)
		if ((*o)->endings)
			str_addf(&endings, "%s.%.*s", endings.len ? ", " : "", (int)strcspn((*o)->endings, " "),
				(*o)->endings);
	log_error("%s: strata does not write files of this kind", file);
	log_hint("the ending of the name chooses the format: %s; .svg.gz and .json.zst are compressed. Other names get "
		 "text, and -f FORMAT chooses for any name", str_text(&endings));
	str_done(&endings);
	return false;
}

enum pack output_pack(const struct output *o, const char *file)
{
	size_t len;

	return file && !ending_of(o, file, strlen(file)) ? pack_by_name(file, &len) : PACK_NONE;
}

enum show_text output_show_text(const struct output *o, bool terminal)
{
	if (o->escapes)
		return SHOW_BYTES;
	if (o->text == collect_text)
		terminal = isatty(STDERR_FILENO);
	return terminal ? SHOW_LINES : SHOW_BYTES;
}

int output_open(struct out *o, enum pack pack)
{
	o->pack = pack;
	o->begun = clock_ns(CLOCK_REALTIME);
	o->file = stream_file(o->stream);
	if (pack)
		o->file = pack_write(pack, o->file);
	return pack && !o->file ? -ENOMEM : 0;
}

void output_end_packed(struct out *o)
{
	if (o->pack && o->file && fclose(o->file))
		log_error("the output could not be compressed");
	if (o->pack)
		o->file = stream_file(o->stream);
	o->pack = PACK_NONE;
}

void output_close(struct out *o)
{
	output_end_packed(o);
	recording_free(o->recording);
	totals_free(o->totals);
	rows_free(o->rows);
}

const char *output_nearest(const char *written)
{
	const char *names[ARRAY_SIZE(outputs)];
	size_t n = 0;

	for (; outputs[n]; n++)
		names[n] = outputs[n]->name;
	return nearest(written, names, n);
}

/* Appends "script.bt:3:9-24: ERROR: "; a call of several lines has no columns. */
static void log_place(const char *filename, unsigned line, unsigned col, unsigned end_line, unsigned end_col,
	bool is_error)
{
	str_put_safe(filename, stderr);
	if (line == end_line)
		fprintf(stderr, ":%u:%u-%u", line, col, end_col);
	else
		fprintf(stderr, ":%u-%u", line, end_line);
	fprintf(stderr, ": %s: ", is_error ? "ERROR" : "WARNING");
}

/* Appends the uses of the macro that has the message. */
static void log_use(const struct output_place *p, bool is_error)
{
	unsigned end = p->line == p->end_line ? p->end_col : (unsigned)strlen(p->text) + 1;

	log_place(p->filename, p->line, p->col, p->end_line, p->end_col, is_error);
	fprintf(stderr, "expanded from\n%s\n", p->text);
	for (unsigned col = 1; col < end; col++)
		fputc(col >= p->col ? '~' : p->text[col - 1] == '\t' ? '\t' : ' ', stderr);
	fputc('\n', stderr);
}

static void log_message(const struct output_message *m)
{
	size_t n = strlen(m->text);

	log_place(m->filename, m->line, m->col, m->end_line, m->end_col, m->is_error);
	fprintf(stderr, "%s%s", m->text, n && m->text[n - 1] == '\n' ? "" : "\n");
	for (unsigned i = 0; i < m->nuses; i++)
		log_use(&m->uses[i], m->is_error);
}

static void log_lost(const struct output_event *e)
{
	log_warn("%s%" PRIu64 " %s", e->are_events ? "Lost " : "", e->n, e->what);
	for (size_t i = 0; i < e->nlosses && i < LOSSES_SHOWN; i++)
		if (e->losses[i].cpu == OUTPUT_ANY_CPU)
			log_warn("  %" PRIu64 " of %s", e->losses[i].n, e->losses[i].probe);
		else
			log_warn("  %" PRIu64 " of %s on CPU %u", e->losses[i].n, e->losses[i].probe, e->losses[i].cpu);
	if (e->nlosses > LOSSES_SHOWN)
		log_warn("  and of %zu more", e->nlosses - LOSSES_SHOWN);
}

void output_event_log(struct out *o, const struct output_event *e)
{
	bool is_text = o->output->content == OUTPUT_TEXT;

	switch (e->kind) {
	case OUTPUT_ATTACHED:
		if (!o->quiet && !e->early)
			fprintf(stderr, "Attached %" PRIu64 " probe%s\n", e->n, e->n == 1 ? "" : "s");
		break;
	case OUTPUT_LOST:
		log_lost(e);
		break;
	case OUTPUT_PROBLEM:
		log_warn("%s", e->problem->text);
		break;
	case OUTPUT_MESSAGE:
		fflush(o->file); /* earlier output comes first */
		log_message(e->message);
		break;
	case OUTPUT_TRIALS:
		output_trials_text(e->trials, is_text && o->terminal && !getenv("NO_COLOR"),
			is_text ? o->file : stderr);
		break;
	}
}
