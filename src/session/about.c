// SPDX-License-Identifier: Apache-2.0
/* about.c - see about.h. */
#include "about.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/owner.h"
#include "base/str.h"
#include "probes/probes.h"
#include "session/session_priv.h"
#include "target/target.h"

enum { COMMAND_MAX = 80 }; /* bytes of a command that are shown */

/* Appends words, as far as they are short. */
static void add_words(struct str *out, const char *words, size_t n)
{
	size_t shown = n < COMMAND_MAX ? n : COMMAND_MAX;

	str_add_safe(out, words, shown);
	str_add(out, shown < n ? ".." : "");
}

static void add_command(const struct session *s, struct str *out)
{
	struct str words = {};

	for (char **arg = s->opt.child->argv; *arg; arg++)
		str_addf(&words, "%s%s", words.len ? " " : "", *arg);
	add_words(out, str_text(&words), words.len);
	str_done(&words);
}

void about_process(const struct session *s, struct str *out)
{
	_cleanup_(freep) char *words = NULL;
	size_t n = 0;

	if (s->opt.child) {
		add_command(s, out);
		return;
	}
	if (!s->opt.pid) {
		str_add(out, "all processes");
		return;
	}
	words = proc_read(s->target, s->opt.pid, "cmdline", &n);
	while (words && n && !words[n - 1])
		n--;
	for (size_t i = 0; words && i < n; i++)
		words[i] = words[i] ? words[i] : ' ';
	if (n)
		add_words(out, words, n);
	str_addf(out, "%spid %d", n ? ", " : "", s->opt.pid);
	if (s->opt.roots.n > 1)
		str_addf(out, " and %zu more", s->opt.roots.n - 1);
	str_add(out, s->opt.roots.children ? " with its children" : "");
}

/* Returns the samples per second on each CPU, or 0 if the script does not sample. */
static long rate(const struct session *s)
{
	long hz = 0;

	for (size_t i = 0; i < s->images.len; i++)
		for (unsigned k = 0; k < s->images.data[i]->nplaces; k++) {
			const struct place *p = s->images.data[i]->places[k].place;

			if (p && p->name && sscanf(p->name, "profile:hz:%ld", &hz) == 1)
				return hz;
		}
	return 0;
}

void about_session(const struct session *s, const char *process, struct str *out)
{
	double seconds = (double)(s->ended_ns - s->silence.start_ns) / 1e9;
	struct utsname u;

	str_add(out, process);
	if (!uname(&u))
		str_addf(out, ", %s", u.nodename);
	str_addf(out, ", %.1f s", seconds);
	if (rate(s))
		str_addf(out, ", %ld Hz", rate(s));
}
