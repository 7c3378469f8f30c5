// SPDX-License-Identifier: Apache-2.0
/* cached.c - images of scripts, kept from one run to the next.
 *
 * A file has a key, which is compared completely, and an image. The key is everything that the code depends on and
 * that is not found anew at the start: text, parameters and options, this strata, this kernel, its modules. Attach
 * points are expanded at each start (src/start/); if an argument that the code reads is elsewhere, the script is
 * compiled. What the compiler would print must be printed each time, so a script with warnings is not kept. */
#include "cached.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/version.h"
#include "imagefile/imagefile.h"
#include "model/facts.h"
#include "model/image.h"
#include "options.h"
#include "parser/ast.h"
#include "script.h"
#include "start/start.h"
#include "target/target.h"
#include "types/types.h"

#define PREFIX "image-"
enum { FILES_MOST = 256, FILE_MOST = 16 << 20, BYTES_MOST = 128 << 20 /* of all */, TEMPORARY_SECONDS = 60 };

/* ---- the key ------------------------------------------------------------ */

static void add(struct str *key, const char *name, const void *data, size_t size)
{
	str_addf(key, "%s %zu\n", name, size);
	if (size)
		str_addn(key, data, size);
}

static void add_text(struct str *key, const char *name, const char *text)
{
	add(key, name, text, text ? strlen(text) : 0);
}

static void read_text(const char *path, struct str *ret)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	char buffer[4096];

	for (size_t n; f && (n = fread(buffer, 1, sizeof(buffer), f)) > 0; )
		str_addn(ret, buffer, n);
}

/* A strata that was built again may generate other code. */
static void add_self(struct str *key)
{
	struct stat st = {};

	stat("/proc/self/exe", &st);
	add_text(key, "version", version());
	str_addf(key, "%llx %llx %llx %llx %lx\n", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		(unsigned long long)st.st_size, (unsigned long long)st.st_mtim.tv_sec,
		(unsigned long)st.st_mtim.tv_nsec);
}

/* A module that was built again may have the same size. Returns false if two builds of it look the same. */
static bool add_module(struct arena *a, const char *line, struct str *key)
{
	static const char *const files[] = {"notes/.note.gnu.build-id", "srcversion"};
	const char *name_end = strchrnul(line, ' ');
	_cleanup_(str_done) struct str id = {};

	for (size_t i = 0; i < ARRAY_SIZE(files) && !id.len; i++)
		read_text(arena_printf(a, "/sys/module/%.*s/%s", (int)(name_end - line), line, files[i]), &id);
	str_addn(key, line, (size_t)(name_end - line));
	add(key, "", id.data, id.len);
	return id.len > 0;
}

/* The kernel's build id and those of its modules: a type of BTF may be a module's. */
static bool add_kernel(struct arena *a, struct str *key)
{
	_cleanup_(str_done) struct str notes = {}, modules = {};
	struct utsname u = {};

	uname(&u);
	add_text(key, u.release, u.version);
	read_text("/sys/kernel/notes", &notes);
	add(key, "notes", notes.data, notes.len);
	read_text("/proc/modules", &modules);
	for (const char *line = str_text(&modules); *line; line = strchrnul(line, '\n'), line += *line == '\n')
		if (!add_module(a, line, key))
			return false;
	return true;
}

static void add_environment(struct str *key)
{
	for (char **e = environ; *e; e++)
		if (!strncmp(*e, "BPFTRACE_", 9) ||
			(!strncmp(*e, "STRATA_", 7) && strncmp(*e, "STRATA_CACHE_DIR=", 17) != 0))
			add_text(key, "env", *e);
}

/* Returns false if the image must not be kept, since its key cannot be known. */
static bool make_key(const struct options *o, const struct compile *c, struct str *key)
{
	const struct codegen_options *g = &c->codegen;

	add_self(key);
	if (!add_kernel(c->arena, key))
		return false;
	add_environment(key);
	add_text(key, "name", c->source.name);
	add_text(key, "real", c->source.real);
	add(key, "text", c->source.text, c->source.len);
	for (size_t i = 0; i < o->params.len; i++)
		add_text(key, "param", o->params.data[i]);
	for (size_t i = 0; i < o->options.len; i++)
		add_text(key, "option", o->options.data[i]);
	str_addf(key, "%d %d %d %d %d %d %d %u %d %.9f\n", o->unsafe, g->pid_tree, g->pid_ns, g->no_cookies, g->counts,
		g->no_loops, g->warn_missing, g->ncpus, o->mode, o->window);
	return true;
}

/* Returns the name of the file: 128 bits of hash. Readers also compare the key in the file. */
static const char *file_name(struct arena *a, const struct str *key)
{
	uint64_t h = 0xcbf29ce484222325ull, g = key->len;

	for (size_t i = 0; i < key->len; i++) {
		h = (h ^ (uint8_t)key->data[i]) * 0x100000001b3ull;
		g = (g + (uint8_t)key->data[i]) * 0x9e3779b97f4a7c15ull;
		g ^= g >> 29;
	}
	return arena_printf(a, PREFIX "%016llx%016llx", (unsigned long long)h, (unsigned long long)g);
}

/* ---- scripts that may be kept -------------------------------------------- */

/* Refuses scripts with options whose values are in the code, and those that print stages of the compiler. These are
 * rare, so the key lacks such options. */
static bool may_be_kept(const struct options *o, const struct compile *c)
{
	for (int i = 0; i < STAGE_MAX; i++)
		if (c->dump[i])
			return false;
	for (size_t i = 0; i < o->options.len; i++)
		if (!strcmp(o->options.data[i], "help"))
			return false;
	return log_level <= 0 && !o->lacks_features && !o->container && !o->cgroup && !o->user_text && !o->has_filter &&
		!o->include_dirs.len && !o->include_files.len && o->mode == SCRIPT_RUNS && !getenv("STRATA_NO_IMAGES");
}

/* The types of arguments of programs come from their debug information and their notes, which may change. */
static bool reads_files(const struct facts *f)
{
	for (unsigned i = 0; i < f->npoints; i++)
		if (f->points[i].provider->file && (f->nfields || f->points[i].args || f->points[i].retval))
			return true;
	return false;
}

static bool is_kept(const struct compile *c, unsigned said)
{
	const struct facts *f = c->codegen.facts;

	return c->image && f && !f->bound && !types_c_is_bound(c->req.types) && !c->source.nfiles &&
		!c->script->nc_parts && !c->script->nc_programs && diags_none(c->req.diags) &&
		!reads_files(f) && said == log_said;
}

/* ---- files -------------------------------------------------------------- */

/* Maps a whole file, to be munmap()ed: files are renamed when they are complete, and nobody but their owner could
 * change them. */
static int map_whole(int dir, const char *name, char **ret, size_t *ret_size)
{
	_cleanup_(closep) int fd = regular_open(dir, name, O_NOFOLLOW);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st))
		return fd < 0 ? fd : -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 022) || st.st_nlink != 1 || st.st_size > FILE_MOST)
		return -EPERM;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	futimens(fd, NULL); /* the oldest are removed first */
	*ret = data;
	*ret_size = (size_t)st.st_size;
	return 0;
}

static bool start(struct compile *c, const struct str *key, const char *data, size_t size)
{
	struct request here;
	struct imagefile f;

	if (size < key->len || memcmp(data, key->data, key->len) ||
		imagefile_read(c->arena, providers, version(), data + key->len, size - key->len, &f))
		return false;
	here = c->req;
	here.settings = f.settings;
	if (!start_silently(&here, f.image))
		return false;
	c->req.settings = f.settings;
	c->image = f.image;
	return true;
}

static bool take(struct compile *c, int dir, const char *name, const struct str *key)
{
	char *data = NULL;
	size_t size = 0;
	bool ok;

	if (map_whole(dir, name, &data, &size))
		return false;
	ok = start(c, key, data, size); /* copies everything that is needed later */
	munmap(data, size);
	return ok;
}

static bool write_whole(int fd, const struct str *s)
{
	for (size_t done = 0; done < s->len; ) {
		ssize_t n = write(fd, s->data + done, s->len - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Images, and the one that was used the longest ago. */
struct kept {
	unsigned n;
	uint64_t bytes;
	time_t oldest;
	char name[256];
};

/* Counts the images, and removes temporary files of dead runs. */
static void look(int dir, struct kept *ret)
{
	_cleanup_(closep) int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	time_t now = time(NULL);

	*ret = (struct kept){};
	for (struct dirent *e; d && (e = readdir(d)); ) {
		struct stat st;

		if (strncmp(e->d_name, PREFIX, sizeof(PREFIX) - 1) || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (strchr(e->d_name, '.')) {
			if (now - st.st_mtime > TEMPORARY_SECONDS)
				unlinkat(dir, e->d_name, 0);
			continue;
		}
		ret->bytes += (uint64_t)st.st_size;
		if ((!ret->n++ || st.st_mtime < ret->oldest) && strlen(e->d_name) < sizeof(ret->name)) {
			ret->oldest = st.st_mtime;
			strcpy(ret->name, e->d_name);
		}
	}
	if (d)
		closedir(d);
	if (d)
		fd = -1;
}

/* Removes images, the one that was used the longest ago first, until the rest is within the limits. */
static void trim(int dir)
{
	struct kept k;

	do
		look(dir, &k);
	while ((k.n > FILES_MOST || k.bytes > BYTES_MOST) && *k.name && !unlinkat(dir, k.name, 0));
}

static void keep(const struct compile *c, int dir, const char *name, const struct str *key)
{
	const char *temporary = arena_printf(c->arena, "%s.%d", name, (int)getpid());
	struct imagefile file = {.image = c->image, .settings = c->req.settings, .tree = c->codegen.pid_tree,
		.name = c->source.name};
	_cleanup_(str_done) struct str data = {};
	_cleanup_(closep) int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) {
		trim(dir); /* removes the file of a dead run with this process id */
		return;
	}
	str_addn(&data, key->data, key->len);
	if (!imagefile_write(&file, version(), &data) || data.len > FILE_MOST || !write_whole(fd, &data) ||
		renameat(dir, temporary, dir, name))
		unlinkat(dir, temporary, 0);
	trim(dir);
}

/* ---- both --------------------------------------------------------------- */

/* Compiles with open constants, keeps the image if that is right, and fills them. */
static bool compile_and_keep(struct compile *c, int dir, const char *name, const struct str *key)
{
	struct facts *f = arena_new_obj(c->arena, struct facts);
	unsigned said = log_said;

	f->arena = c->arena;
	f->stays = true;
	c->req.facts = c->codegen.facts = f;
	if (!compile(c))
		return false;
	if (is_kept(c, said))
		keep(c, dir, name, key);
	return !c->image || start_fill(&c->req, c->image);
}

bool cached_compile(struct options *o)
{
	struct compile *c = &o->compile;
	_cleanup_(str_done) struct str key = {};
	int dir = may_be_kept(o, c) ? target_cache_dir(o->traced.target) : -ENOENT;
	const char *name;

	if (dir < 0)
		return script_compile(o);
	script_prepare(o, c);
	if (!make_key(o, c, &key))
		return compile(c);
	name = file_name(c->arena, &key);
	return take(c, dir, name, &key) || compile_and_keep(c, dir, name, &key);
}
