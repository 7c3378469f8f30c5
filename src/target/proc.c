// SPDX-License-Identifier: Apache-2.0
/* proc.c - reads processes from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/regular.h"
#include "base/vec.h"
#include "target/priv.h"

#define MAPS_MAX (64u << 20)
#define ENVIRON_MAX (256u << 10)

static const char *proc_path(char buf[96], int pid, const char *file)
{
	snprintf(buf, 96, "/proc/%d/%s", pid, file);
	return buf;
}

/* ---- mappings ---- */

/* The kernel writes a newline in a path as \012. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (!strncmp(s, "\\012", 4)) {
			*out++ = '\n';
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

/* Reads "start-end rwxp offset major:minor inode   path". */
static bool parse_map(char *line, struct proc_map *m)
{
	unsigned long long start, end, offset, inode;
	char perms[5];
	int at = 0;

	*m = (struct proc_map){};
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms, &offset,
		    &m->dev_major, &m->dev_minor, &inode, &at) < 7)
		return false;
	m->start = start;
	m->end = end;
	m->offset = offset;
	m->inode = inode;
	m->read = perms[0] == 'r';
	m->write = perms[1] == 'w';
	m->exec = perms[2] == 'x';
	if (at)
		unescape(line + at);
	m->path = at ? line + at : "";
	return start < end;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

ssize_t proc_maps(struct target *t, int pid, struct proc_map **ret)
{
	char path[96];
	size_t size = 0, n = 0, maps_size;
	_cleanup_(freep) char *text = target_read(t, proc_path(path, pid, "maps"), MAPS_MAX, &size);
	struct proc_map *maps;
	char *rest, *line;

	if (!text)
		return errno == ENOENT ? -ESRCH : -errno;
	maps_size = (count_lines(text) + 1) * sizeof(*maps);
	maps = malloc(maps_size + size + 1);
	if (!maps)
		return -ENOMEM;
	rest = memcpy((char *)maps + maps_size, text, size + 1);
	while ((line = strsep(&rest, "\n")))
		if (*line && parse_map(line, &maps[n]))
			n++;
	*ret = maps;
	return (ssize_t)n;
}

/* Opens the regular file that `at` refers to, an fd of O_PATH or -errno, if it has that inode. Closes `at`. */
static int open_regular(int at, uint64_t inode)
{
	int fd = regular_reopen(at);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || (inode && st.st_ino != inode)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* Opens a path with O_PATH within the root of the process, so that links cannot lead into our root. */
static int open_in_root(struct target *t, int pid, const char *path)
{
	char root[96];
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_(closep) int dir = target_openat(t, proc_path(root, pid, "root"), O_PATH | O_DIRECTORY);

	int fd;

	if (dir < 0)
		return dir;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

/* Opens the path with O_PATH in our own root, if it is the same file. Used for processes that have ended. */
static int open_here(struct target *t, const struct proc_map *m)
{
	int fd = open_regular(target_openat(t, m->path, O_PATH), m->inode);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && major(st.st_dev) == m->dev_major &&
				minor(st.st_dev) == m->dev_minor))
		return fd;
	close(fd);
	return -ENOENT;
}

/* Returns whether the process still has the mapping. */
static bool is_mapped(struct target *t, int pid, const struct proc_map *m)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	ssize_t n = proc_maps(t, pid, &maps);

	for (ssize_t i = 0; i < n; i++)
		if (maps[i].start == m->start)
			return maps[i].inode == m->inode && maps[i].dev_major == m->dev_major &&
				maps[i].dev_minor == m->dev_minor;
	return false;
}

/* A file of an overlay may have another inode than its mapping. */
static bool is_overlay(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Another file may be mapped there now. */
static int open_mapped(struct target *t, int pid, const struct proc_map *m)
{
	char path[96];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		(unsigned long long)m->start, (unsigned long long)m->end);
	fd = open_regular(target_openat(t, path, O_PATH), 0);
	if (fd < 0 || (!fstat(fd, &st) && st.st_ino == m->inode) || (is_overlay(fd) && is_mapped(t, pid, m)))
		return fd;
	close(fd);
	return -ENOENT;
}

int proc_open_mapping(struct target *t, int pid, const struct proc_map *m)
{
	int fd = open_mapped(t, pid, m);

	if (fd >= 0)
		return fd;
	if (m->path[0] != '/')
		return -ENOENT;
	fd = open_regular(open_in_root(t, pid, m->path), m->inode);
	return fd >= 0 ? fd : open_here(t, m);
}

/* ---- in a container ---- */

bool proc_has_other_root(struct target *t, int pid)
{
	char path[96];
	_cleanup_(closep) int ours = target_openat(t, "/", O_PATH);
	_cleanup_(closep) int its = target_openat(t, proc_path(path, pid, "root"), O_PATH);
	struct stat a, b;

	return ours >= 0 && its >= 0 && !fstat(ours, &a) && !fstat(its, &b) &&
	       (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

/* Reads a link of the process, such as "cwd". Returns its length, or -errno. */
static ssize_t read_link(struct target *t, int pid, const char *link, char text[PATH_MAX])
{
	char path[96];
	_cleanup_(closep) int fd = target_openat(t, proc_path(path, pid, link), O_PATH | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", text, PATH_MAX);
	if (n < 0)
		return -errno;
	if (n == 0 || n == PATH_MAX)
		return -ENAMETOOLONG;
	text[n] = 0;
	return n;
}

/* Opens a path below the current directory of the process with O_PATH. Returns an fd or -errno. */
static int open_in_cwd(struct target *t, int pid, const char *path)
{
	char cwd[PATH_MAX], root[PATH_MAX], full[2 * PATH_MAX];
	ssize_t n = read_link(t, pid, "root", root), have = read_link(t, pid, "cwd", cwd);

	if (n < 0 || have < 0)
		return (int)(n < 0 ? n : have);
	if (n == 1) /* "/" */
		n = 0;
	/* Both are paths of the mount namespace, but files are opened from the process's root. */
	if (strncmp(cwd, root, (size_t)n) != 0 || (cwd[n] && cwd[n] != '/'))
		return -ENOENT;
	snprintf(full, sizeof(full), "%s/%s", cwd + n, path);
	return open_in_root(t, pid, full);
}

int proc_open_file(struct target *t, int pid, const char *path)
{
	int fd = *path == '/' ? open_in_root(t, pid, path) : open_in_cwd(t, pid, path);

	if (fd < 0 && *path == '/' && kill(pid, 0) && errno == ESRCH)
		fd = target_openat(t, path, O_PATH);
	return open_regular(fd, 0);
}

const char *proc_path_in_root(struct target *t, int pid, const char *path)
{
	_cleanup_(closep) int fd = open_regular(open_in_root(t, pid, path), 0);

	return fd < 0 ? NULL : arena_printf(t->arena, "/proc/%d/root%s", pid, path);
}

/* "libc" matches libc.so.6 and libc-2.31.so; "python3" matches python3.11. */
static bool is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	size_t n = strlen(name);

	return slash && !strncmp(slash + 1, name, n) &&
	       (!slash[1 + n] || slash[1 + n] == '.' ||
		       (slash[1 + n] == '-' && isdigit((unsigned char)slash[2 + n])));
}

/* Returns a path by which strata can open the file of a mapping. */
static const char *mapped_path(struct target *t, int pid, const struct proc_map *m)
{
	_cleanup_(closep) int fd = open_regular(open_in_root(t, pid, m->path), m->inode);

	if (fd >= 0)
		return arena_printf(t->arena, "/proc/%d/root%s", pid, m->path);
	/* the file has another name there, so it is opened through the mapping */
	return arena_printf(t->arena, "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)m->start,
		(unsigned long long)m->end);
}

const char *proc_find_mapped(struct target *t, int pid, const char *name)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	ssize_t n = proc_maps(t, pid, &maps);

	for (ssize_t i = 0; i < n; i++)
		if (maps[i].exec && is_called(maps[i].path, name))
			return mapped_path(t, pid, &maps[i]);
	return NULL;
}

/* ---- all mapped files ---- */

struct object {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
};

struct objects {
	VEC(struct object) seen;
	struct strings paths;
};

static bool is_new(struct objects *o, const struct proc_map *m)
{
	for (size_t i = 0; i < o->seen.len; i++)
		if (o->seen.data[i].inode == m->inode && o->seen.data[i].dev_major == m->dev_major &&
			o->seen.data[i].dev_minor == m->dev_minor)
			return false;
	vec_push(&o->seen, (struct object){m->inode, m->dev_major, m->dev_minor});
	return true;
}

static void add_objects(struct target *t, int pid, struct objects *o)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	ssize_t n = proc_maps(t, pid, &maps);
	int other = -1; /* not known yet */

	for (ssize_t i = 0; i < n; i++) {
		const struct proc_map *m = &maps[i];

		if (!m->exec || !m->inode || m->path[0] != '/' || !is_new(o, m))
			continue;
		if (other < 0)
			other = proc_has_other_root(t, pid);
		/* with chroot, the path may be valid here; in a container, it is another file here */
		_cleanup_(closep) int fd = other ? open_here(t, m) :
						   open_regular(target_openat(t, m->path, O_PATH), m->inode);

		strings_add(t, &o->paths, fd >= 0 ? m->path : mapped_path(t, pid, m));
	}
}

const char *const *proc_objects(struct target *t, int pid)
{
	_cleanup_(freep) int *pids = NULL;
	struct objects o = {};
	size_t n = pid ? 0 : proc_list(t, &pids);

	if (pid)
		add_objects(t, pid, &o);
	for (size_t i = 0; i < n; i++)
		add_objects(t, pids[i], &o);
	vec_done(&o.seen);
	return strings_done(t, &o.paths);
}

/* ---- threads and states ---- */

/* Reads the names in a directory that are numbers. */
static ssize_t read_numbers(struct target *t, const char *path, int **ret)
{
	int fd = target_openat(t, path, O_RDONLY | O_DIRECTORY);
	VEC(int) numbers = {};
	struct dirent *e;
	DIR *d;

	if (fd < 0)
		return fd == -ENOENT ? -ESRCH : fd;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			vec_push(&numbers, atoi(e->d_name));
	closedir(d);
	*ret = numbers.data;
	return (ssize_t)numbers.len;
}

ssize_t proc_threads(struct target *t, int pid, int **ret)
{
	char path[96];

	return read_numbers(t, proc_path(path, pid, "task"), ret);
}

size_t proc_list(struct target *t, int **ret)
{
	ssize_t n = read_numbers(t, "/proc", ret);
	size_t kept = 0;

	for (ssize_t i = 0; i < n; i++)
		if ((*ret)[i] != getpid())
			(*ret)[kept++] = (*ret)[i];
	return kept;
}

/* proc(5): after the name, which may contain anything, come the state and the parent. */
int proc_parent(struct target *t, int pid)
{
	char *text = proc_read(t, pid, "stat", NULL), *end = text ? strrchr(text, ')') : NULL;
	int parent = 0;

	if (end)
		sscanf(end + 1, " %*c %d", &parent);
	free(text);
	return parent;
}

static bool has(const int *pids, size_t n, int pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Adds the children of those found so far, until there are none. */
size_t proc_family(struct target *t, const int *pids, size_t n, bool descendants, int **ret)
{
	int *all = NULL, *parents;
	size_t nall = descendants ? proc_list(t, &all) : 0, before = 0;
	VEC(int) found = {};

	for (size_t i = 0; i < n; i++)
		vec_push(&found, pids[i]);
	parents = calloc(nall + 1, sizeof(*parents));
	for (size_t i = 0; parents && i < nall; i++)
		parents[i] = proc_parent(t, all[i]);
	while (parents && before < found.len) {
		before = found.len;
		for (size_t i = 0; i < nall; i++)
			if (has(found.data, before, parents[i]) && !has(found.data, found.len, all[i]))
				vec_push(&found, all[i]);
	}
	free(parents);
	free(all);
	*ret = found.data;
	return found.len;
}

char *proc_exe(struct target *t, int pid)
{
	char path[96], exe[PATH_MAX];
	_cleanup_(closep) int dir = target_openat(t, proc_path(path, pid, ""), O_PATH | O_DIRECTORY);
	ssize_t n = dir < 0 ? -1 : readlinkat(dir, "exe", exe, sizeof(exe));

	if (dir < 0)
		errno = -dir;
	return n <= 0 ? NULL : strndup(exe, (size_t)n);
}

char *proc_read(struct target *t, int pid, const char *name, size_t *ret_size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return target_read(t, path, 4096, ret_size);
}

char *proc_environment(struct target *t, int pid, size_t *ret_size)
{
	char path[96];
	char *text = target_read(t, proc_path(path, pid, "environ"), ENVIRON_MAX, ret_size);

	while (text && *ret_size && text[*ret_size - 1]) /* a variable that was cut */
		--*ret_size;
	return text;
}

char *proc_comm(struct target *t, int pid)
{
	char path[96];
	char *comm = target_read(t, proc_path(path, pid, "comm"), 64, NULL);

	if (comm)
		comm[strcspn(comm, "\n")] = '\0';
	return comm;
}

/* Returns the state ("R", "S", "Z"..) in /proc/PID/FILE, a stat file; 0 if there is none. */
static char state_of(struct target *t, int pid, const char *file)
{
	char path[96];
	size_t size;
	_cleanup_(freep) char *stat = target_read(t, proc_path(path, pid, file), 4096, &size);
	const char *state = stat ? strrchr(stat, ')') : NULL;

	return state && state[1] ? state[2] : 0;
}

/* A zombie still has a directory, but its root and files are gone. */
bool proc_alive(struct target *t, int pid)
{
	char state = state_of(t, pid, "stat");

	return state && state != 'Z' && state != 'X';
}

/* The file has "0 0x1 0x2 .. SP PC"; "-1 SP PC" if the thread is blocked outside of a system call; or
 * "running". */
bool proc_thread_sp(struct target *t, int pid, int tid, uint64_t *ret)
{
	_cleanup_(freep) char *text = NULL;
	char path[96], file[64];
	const char *at;

	snprintf(file, sizeof(file), "task/%d/syscall", tid);
	text = target_read(t, proc_path(path, pid, file), 512, NULL);
	at = text ? strrchr(text, ' ') : NULL;
	while (at && at > text && at[-1] != ' ')
		at--;
	return at && at > text && sscanf(at, "%" SCNx64, ret) == 1;
}

char proc_thread_state(struct target *t, int pid, int tid)
{
	char file[64];

	snprintf(file, sizeof(file), "task/%d/stat", tid);
	return state_of(t, pid, file);
}

/* The first thread may sleep while others work, as in Go. */
bool proc_running(struct target *t, int pid)
{
	_cleanup_(freep) int *tids = NULL;
	ssize_t n = proc_threads(t, pid, &tids);
	bool running = false;

	for (ssize_t i = 0; i < n && !running; i++)
		running = proc_thread_state(t, pid, tids[i]) == 'R';
	return running;
}
