// SPDX-License-Identifier: Apache-2.0
/* session_table.c - prints answers, and maps as a table, if the script's settings say so. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/owner.h"
#include "model/image.h"
#include "output/answer.h"
#include "output/table.h"
#include "session/session_priv.h"
#include "values/entries.h"

/* Returns the maps to print, in the order in which the script first has them. To be free()d. */
static const struct image_map **in_order(const struct session *s, size_t *ret_n)
{
	const struct image_map **list = calloc(s->shared.maps.len + 1, sizeof(*list));
	const struct image *img = s->images.len ? s->images.data[0] : NULL;

	*ret_n = 0;
	if (!list)
		out_of_memory();
	for (unsigned i = 0; img && i < img->nmaps; i++) {
		const struct shared_map *m = shared_find(&s->shared, img->maps[i].bpf_name);

		if (m && m->script && m->print)
			list[(*ret_n)++] = m->script;
	}
	return list;
}

static void print(struct session *s, const struct image_map *const *maps, size_t n)
{
	struct map_content *contents = calloc(n + 1, sizeof(*contents));
	bool skips_idle = s->show.skips_idle;
	size_t rows = 0;

	if (!contents)
		out_of_memory();
	s->show.skips_idle = false; /* rows are left out, not entries */
	for (size_t i = 0; i < n; i++) {
		struct map_wanted wanted = {};

		if (map_read(&s->show, shared_fd(&s->shared, maps[i]->bpf_name), maps[i], &wanted, &contents[i]) < 0) {
			map_content_done(&contents[i]);
			contents[i] = (struct map_content){.map = maps[i]};
		}
		rows += contents[i].n;
	}
	s->show.skips_idle = skips_idle;
	s->seen += rows;
	if (rows)
		s->advice.idle_threads += table_print(&s->show, contents, n, s->out.file);
	for (size_t i = 0; i < n; i++)
		map_content_done(&contents[i]);
	free(contents);
}

void session_print_answers(struct session *s, const struct image_map *const *maps, size_t n)
{
	struct map_wanted wanted = {};

	if (!s->opt.settings->print_answer || s->out.output->content != OUTPUT_TEXT)
		return;
	for (size_t i = 0; i < n; i++) {
		struct map_content c;

		if (!map_read(&s->show, shared_fd(&s->shared, maps[i]->bpf_name), maps[i], &wanted, &c))
			answer_print(&s->show, &c, s->out.file);
		map_content_done(&c);
	}
}

static bool is_in(const struct image_map *m, const struct image_map *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == m)
			return true;
	return false;
}

bool session_print_table(struct session *s, const struct image_map **maps, size_t *n)
{
	size_t nall, ncolumns = 0, left = 0;
	_cleanup_(freep) const struct image_map **all = in_order(s, &nall);
	_cleanup_(freep) bool *in = calloc(nall + 1, sizeof(*in));

	if (!in)
		out_of_memory();
	if (!s->opt.settings->print_table || s->out.output->content != OUTPUT_TEXT || !table_find(all, nall, in))
		return false;
	for (size_t i = 0; i < nall; i++)
		if (in[i])
			all[ncolumns++] = all[i];
	print(s, all, ncolumns);
	for (size_t i = 0; i < *n; i++)
		if (!is_in(maps[i], all, ncolumns))
			maps[left++] = maps[i];
	*n = left;
	return true;
}
