// SPDX-License-Identifier: Apache-2.0
/* container.c - names the container of a cgroup, by the cgroup's path and by the files of container
 * runtimes:
 *
 *     /docker/ID, /system.slice/docker-ID.scope                        Docker
 *     /machine.slice/libpod-ID.scope/container                         podman
 *     /kubepods.slice/..-podUID.slice/cri-containerd-ID.scope, /kubepods/../podUID/ID, crio-ID.scope
 *     /default/ID                                                      containerd's nerdctl
 *     /lxc.payload.NAME, /lxc/NAME, /machine.slice/machine-NAME.scope  LXC, systemd-nspawn
 *
 * ID is 64 hexadecimal digits. The files are searched as text for a key and the string after it. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "priv.h"
#include "target.h"

enum { ID = 64, SHORT_ID = 12, UID = 36, SHORT_UID = 8, FILE_MAX = 4 << 20, NAME_MAX_LEN = 128 };

struct container_name {
	uint64_t cgroup;
	const char *text; /* "" if the cgroup is not a container */
	const char *id;   /* the ID in its path; NULL: none */
	bool exists;      /* its path was found */
	struct container_name *next;
};

/* The files in which runtimes describe a container; %s is the ID. */
static const struct {
	const char *path;
	const char *pod, *name; /* keys in the file; pod may be NULL */
} runtimes[] = {
	/* Docker 20.10 to 27: daemon/container */
	{"/var/lib/docker/containers/%s/config.v2.json", NULL, "Name"},
	/* containerd 1.7: internal/cri/annotations; nerdctl: pkg/labels */
	{"/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json", "io.kubernetes.cri.sandbox-name",
		"io.kubernetes.cri.container-name"},
	{"/run/containerd/io.containerd.runtime.v2.task/default/%s/config.json", NULL, "nerdctl/name"},
	/* CRI-O 1.30: pkg/annotations */
	{"/run/containers/storage/overlay-containers/%s/userdata/config.json", "io.kubernetes.pod.name",
		"io.kubernetes.container.name"},
};

/* Reads the string after a key, if it has no escapes. Returns false if there is none. */
static bool read_key(const char *text, const char *key, struct str *out)
{
	size_t n = strlen(key);

	for (const char *at = text; (at = strstr(at, key)); at += n) {
		const char *value = at + n;

		if (at == text || at[-1] != '"' || *value++ != '"')
			continue;
		value += strspn(value, " \t\n");
		if (*value++ != ':')
			continue;
		value += strspn(value, " \t\n[");
		if (*value++ != '"')
			continue;
		value += *value == '/'; /* names of Docker begin with a slash */
		n = strcspn(value, "\"\\");
		if (value[n] != '"' || !n || n > NAME_MAX_LEN)
			return false;
		str_add_safe(out, value, n);
		return true;
	}
	return false;
}

/* podman keeps all containers in one file: [{"id":"..","names":[".."],..},..] */
static bool read_podman(struct target *t, const char *id, struct str *out)
{
	_cleanup_(freep) char *text =
		target_read(t, "/var/lib/containers/storage/overlay-containers/containers.json", FILE_MAX, NULL);
	const char *at = text ? strstr(text, id) : NULL;

	return at && read_key(at, "names", out);
}

static bool read_name(struct target *t, const char *id, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		struct str path = {};
		char *text;
		bool found;

		str_addf(&path, runtimes[i].path, id);
		text = target_read(t, str_text(&path), FILE_MAX, NULL);
		str_done(&path);
		if (text && runtimes[i].pod && read_key(text, runtimes[i].pod, out))
			str_addc(out, '/');
		found = text && read_key(text, runtimes[i].name, out);
		free(text);
		if (found)
			return true;
		out->len = 0;
	}
	return read_podman(t, id, out);
}

/* Returns the last group of exactly 64 hexadecimal digits, or NULL if there is none. */
static const char *find_id(struct arena *a, const char *path)
{
	const char *found = NULL;

	for (size_t n; *path; path += n) {
		for (n = 0; isxdigit((unsigned char)path[n]); n++)
			;
		if (n == ID)
			found = path;
		n += !n;
	}
	return found ? arena_strndup(a, found, ID) : NULL;
}

/* Adds the first digits of the UID in "podUID". systemd's form has '_' for '-'. */
static void add_pod(const char *path, struct str *out)
{
	const char *pod = strstr(path, "kubepods") ? strstr(path, "pod") : NULL;

	while (pod && strspn(pod + 3, "0123456789abcdef-_") < UID)
		pod = strstr(pod + 3, "pod");
	if (pod)
		str_addf(out, "pod-%.*s/", SHORT_UID, pod + 3);
}

/* Adds the name of an LXC or nspawn container, which is in the path. */
static void add_plain(const char *path, struct str *out)
{
	static const char *const before[] = {"/lxc.payload.", "/lxc/", "/machine-"};

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		const char *at = strstr(path, before[i]);
		size_t n = at ? strcspn(at + strlen(before[i]), "/") : 0;

		if (!n)
			continue;
		at += strlen(before[i]);
		n -= n > 6 && !strncmp(at + n - 6, ".scope", 6) ? 6 : 0;
		str_add_safe(out, at, n);
		return;
	}
}

/* Ids of cgroups are numbers in a row, with a generation in the upper half. */
static struct container_name **list_of(struct target *t, uint64_t cgroup)
{
	return &t->containers[(cgroup ^ cgroup >> 32) % CONTAINER_LISTS];
}

static struct container_name *known_container(struct target *t, uint64_t cgroup)
{
	struct container_name *c = *list_of(t, cgroup);

	while (c && c->cgroup != cgroup)
		c = c->next;
	return c;
}

/* path: "" if the cgroup has gone. */
static struct container_name *add_container(struct target *t, uint64_t cgroup, const char *path)
{
	struct container_name *c = arena_new_obj(t->arena, struct container_name);
	const char *id = find_id(t->arena, path);
	struct container_name **list = list_of(t, cgroup);
	struct str name = {};

	if (!id)
		add_plain(path, &name);
	else if (!read_name(t, id, &name)) {
		name.len = 0;
		add_pod(path, &name);
		str_addf(&name, "%.*s", SHORT_ID, id);
	}
	*c = (struct container_name){
		cgroup, arena_strndup(t->arena, str_text(&name), name.len), id, *path, *list,
	};
	*list = c;
	str_done(&name);
	return c;
}

static struct container_name *find_container(struct target *t, uint64_t cgroup)
{
	struct container_name *c = known_container(t, cgroup);
	struct str path = {};

	if (c)
		return c;
	target_cgroup_path(t, cgroup, "unified", &path);
	c = add_container(t, cgroup, str_text(&path));
	str_done(&path);
	return c;
}

const char *target_container(struct target *t, uint64_t cgroup)
{
	return find_container(t, cgroup)->text;
}

void target_container_note(struct target *t, uint64_t cgroup, const char *path)
{
	if (!known_container(t, cgroup))
		add_container(t, cgroup, path);
}

/* Returns whether the text is the beginning of an ID, as runtimes print it. */
static bool is_id(const char *text)
{
	size_t n = strlen(text);

	return n >= SHORT_ID && n <= ID && strspn(text, "0123456789abcdef") == n;
}

int target_container_is(struct target *t, uint64_t cgroup, const char *name)
{
	const struct container_name *c = find_container(t, cgroup);
	const char *slash = strchr(c->text, '/');

	if (!c->exists)
		return -ENOENT;
	return glob_match(name, c->text) || (slash && glob_match(name, slash + 1)) ||
		(c->id && is_id(name) && !strncmp(c->id, name, strlen(name)));
}
