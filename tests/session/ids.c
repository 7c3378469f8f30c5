// SPDX-License-Identifier: Apache-2.0
/* ids.c - reads the kernel's lists of ids, and /proc/PID/fdinfo for what a process has open. */
#include "ids.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[ID_KINDS] = {"prog", "map", "link"};

static void add(struct ids *ids, enum id_kind kind, uint32_t id)
{
	ids->id[kind] = reallocarray(ids->id[kind], ids->n[kind] + 1, sizeof(id));
	if (!ids->id[kind])
		abort();
	ids->id[kind][ids->n[kind]++] = id;
}

void ids_all(struct ids *ret)
{
	static int (*const next[ID_KINDS])(__u32, __u32 *) = {
		bpf_prog_get_next_id, bpf_map_get_next_id, bpf_link_get_next_id,
	};

	*ret = (struct ids){};
	for (int k = 0; k < ID_KINDS; k++)
		for (uint32_t id = 0; !next[k](id, &id);)
			add(ret, k, id);
}

void ids_done(struct ids *ids)
{
	for (int k = 0; k < ID_KINDS; k++)
		free(ids->id[k]);
}

bool ids_has(const struct ids *ids, enum id_kind kind, uint32_t id)
{
	for (size_t i = 0; i < ids->n[kind]; i++)
		if (ids->id[kind][i] == id)
			return true;
	return false;
}

static size_t count(const struct ids *a, const struct ids *b, bool in_both, bool print)
{
	size_t n = 0;

	for (int k = 0; k < ID_KINDS; k++)
		for (size_t i = 0; i < b->n[k]; i++)
			if (ids_has(a, k, b->id[k][i]) == in_both && n++ < 5 && print)
				printf("# %s %u\n", names[k], b->id[k][i]);
	return n;
}

size_t ids_new(const struct ids *a, const struct ids *b, bool print)
{
	return count(a, b, false, print);
}

size_t ids_both(const struct ids *a, const struct ids *b, bool print)
{
	return count(a, b, true, print);
}

/* "prog_id:\t12": the fdinfo of a link also has the id of its program, so that id is found twice. */
static void read_fdinfo(const char *path, struct ids *ret)
{
	FILE *f = fopen(path, "re");
	char line[256];
	uint32_t id;

	while (f && fgets(line, sizeof(line), f))
		for (int k = 0; k < ID_KINDS; k++)
			if (!strncmp(line, names[k], strlen(names[k])) &&
				sscanf(line + strlen(names[k]), "_id: %u", &id) == 1)
				add(ret, k, id);
	if (f)
		fclose(f);
}

static void read_process(const char *pid, struct ids *ret)
{
	char path[600];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%.32s/fdinfo/%.32s", pid, e->d_name);
		if (e->d_name[0] != '.')
			read_fdinfo(path, ret);
	}
	if (d)
		closedir(d);
}

void ids_open(struct ids *ret)
{
	*ret = (struct ids){};
	read_process("self", ret);
}

bool ids_elsewhere(void)
{
	struct ids ids = {};
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d)))
		if (atoi(e->d_name) > 0 && atoi(e->d_name) != getpid())
			read_process(e->d_name, &ids);
	if (d)
		closedir(d);
	ids_done(&ids);
	return ids.n[ID_PROG] || ids.n[ID_MAP];
}
