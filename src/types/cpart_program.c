// SPDX-License-Identifier: Apache-2.0
/* cpart_program.c - an imported program in C: finds its functions, and compiles it with clang once it is
 * known which functions the script calls.
 *
 * clang gets the same files as libclang, in memory; an overlay puts them at their names. For each function that
 * is called, a function that takes and returns u64 is added after the program, so that the code generator needs
 * no other types. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/owner.h"
#include "base/priority.h"
#include "cpart.h"

enum { COMPILE_MS = 30000, CALLED_MAX = 200, NO_CLANG = 127 };
static const rlim_t memory_max = (rlim_t)4 << 30;

/* ---- functions ---------------------------------------------------------- */

static const struct c_function *new_function(struct cpart *c, struct cx_cursor at, const char *name)
{
	struct c_function *f = arena_new_obj(c->arena, struct c_function);
	int n = c->clang.Cursor_getNumArguments(at);

	f->name = arena_strdup(c->arena, name);
	f->result = cpart_type(c, c->clang.getCursorResultType(at));
	f->n = n > 0 ? (unsigned)n : 0;
	for (unsigned i = 0; i < f->n && i < C_PARAMS_MAX; i++)
		f->params[i] = cpart_type(c, c->clang.getCursorType(c->clang.Cursor_getArgument(at, i)));
	return f;
}

const struct c_function *cpart_function(void *state, const char *name)
{
	struct cpart *c = state;
	struct decl *d;

	for (size_t i = 0; i < c->called.len; i++)
		if (!strcmp(c->called.data[i]->name, name))
			return c->called.data[i];
	d = decl_find(c, CX_FUNCTION_DECL, name);
	if (!d || !c->clang.isCursorDefinition(d->cursor) || c->clang.Cursor_isFunctionInlined(d->cursor) ||
	    c->clang.getCursorLinkage(d->cursor) != CX_LINKAGE_EXTERNAL || c->called.len == CALLED_MAX)
		return NULL;
	vec_push(&c->called, new_function(c, d->cursor, name));
	return c->called.data[c->called.len - 1];
}

/* Adds unsigned long long strata_c_f(unsigned long long a0, ..) { return (unsigned long long)f(a0, ..); }. */
static void add_call(struct str *s, const struct c_function *f)
{
	str_add(s, "unsigned long long " C_CALL);
	str_addf(s, "%s(", f->name);
	for (unsigned i = 0; i < f->n; i++)
		str_addf(s, "%sunsigned long long a%u", i ? ", " : "", i);
	str_addf(s, "%s) { %s%s(", f->n ? "" : "void",
		f->result->kind == TYPE_NONE ? "" : "return (unsigned long long)", f->name);
	for (unsigned i = 0; i < f->n; i++)
		str_addf(s, "%s%sa%u", i ? ", " : "", f->params[i]->kind == TYPE_POINTER ? "(void *)" : "", i);
	str_addf(s, ");%s }\n", f->result->kind == TYPE_NONE ? " return 0;" : "");
}

/* ---- files in memory ---------------------------------------------------- */

struct run {
	struct cpart *part;
	struct str text, overlay, map; /* map is the option */
	VEC(int) files;
	VEC(const char *) args;
	int object, messages;
};

static int new_file(struct run *r, const char *text, size_t len)
{
	int fd = memfd_create("c", MFD_CLOEXEC);

	if (fd >= 0)
		vec_push(&r->files, fd);
	return fd >= 0 && write(fd, text, len) == (ssize_t)len ? fd : -1;
}

/* The overlay is YAML, which includes JSON. */
static void add_quoted(struct str *s, const char *text)
{
	str_addc(s, '"');
	for (; *text; text++)
		str_addf(s, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	str_addc(s, '"');
}

static bool add_file(struct run *r, const char *name, const char *text, size_t len)
{
	int fd = new_file(r, text, len);

	str_add(&r->overlay, r->overlay.len ? ",\n{\"type\": \"file\", \"name\": " :
		"{\"version\": 0, \"use-external-names\": false, \"roots\": [\n{\"type\": \"file\", \"name\": ");
	add_quoted(&r->overlay, name);
	str_addf(&r->overlay, ", \"external-contents\": \"/proc/self/fd/%d\"}", fd);
	return fd >= 0;
}

static bool add_files(struct run *r)
{
	struct cpart *c = r->part;
	int overlay;
	bool ok;

	str_addn(&r->text, c->source->text + c->part.start, c->part.end - c->part.start);
	str_addc(&r->text, '\n');
	for (size_t i = 0; i < c->called.len; i++)
		add_call(&r->text, c->called.data[i]);
	ok = add_file(r, c->file, str_text(&r->text), r->text.len) &&
	     add_file(r, CPART_BTF, str_text(&c->btf), c->btf.len);
	for (size_t i = 0; i < c->files.len; i++)
		ok = ok && add_file(r, c->files.data[i].name, c->files.data[i].text, c->files.data[i].len);
	for (size_t i = 0; i < c->missing.len; i++)
		ok = ok && add_file(r, arena_printf(c->arena, CPART_DIR "/%s", c->missing.data[i]), "", 0);
	str_add(&r->overlay, "]}\n");
	overlay = new_file(r, str_text(&r->overlay), r->overlay.len);
	str_addf(&r->map, "/proc/self/fd/%d", overlay);
	r->object = new_file(r, "", 0);
	r->messages = new_file(r, "", 0);
	return ok && overlay >= 0 && r->object >= 0 && r->messages >= 0;
}

static const char *file_text(struct run *r, int fd, size_t *len)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st))
		return NULL;
	text = arena_alloc(r->part->arena, (size_t)st.st_size + 1);
	text[st.st_size] = 0;
	*len = (size_t)st.st_size;
	return pread(fd, text, *len, 0) == st.st_size ? text : NULL;
}

/* ---- clang -------------------------------------------------------------- */

static void set_args(struct run *r)
{
	static const char *const more[] = {"-O2", "-g", "-mcpu=v3", "-fno-color-diagnostics",
		"-c", "-o", "-"};
	struct cpart *c = r->part;

	vec_push(&r->args, "clang");
	for (size_t i = 0; i < c->args.len; i++)
		vec_push(&r->args, c->args.data[i]);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		vec_push(&r->args, more[i]);
	vec_push(&r->args, "-ivfsoverlay");
	vec_push(&r->args, str_text(&r->map));
	vec_push(&r->args, c->file);
	vec_push(&r->args, NULL);
}

static void run_child(struct run *r)
{
	static const char *const names[] = {"clang", "clang-21", "clang-20", "clang-19", "clang-18"};
	struct rlimit memory = {memory_max, memory_max};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	files_restore();
	priority_normal();
	setrlimit(RLIMIT_AS, &memory);
	for (size_t i = 0; i < r->files.len; i++)
		fcntl(r->files.data[i], F_SETFD, 0);
	dup2(r->object, STDOUT_FILENO);
	dup2(r->messages, STDERR_FILENO);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		execvp(names[i], (char *const *)r->args.data);
	_exit(NO_CLANG);
}

/* Returns clang's status in the form of waitpid(), or -errno; -ETIME after a timeout. */
static int run_clang(struct run *r)
{
	_cleanup_(closep) int process = -1;
	struct pollfd end = {.events = POLLIN};
	pid_t pid = fork();
	int status = 0, n;

	if (!pid)
		run_child(r);
	if (pid < 0)
		return -errno;
	process = end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while ((n = process < 0 ? 0 : poll(&end, 1, COMPILE_MS)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return n <= 0 ? -ETIME : status;
}

/* ---- messages ----------------------------------------------------------- */

/* Returns the span of a line of the program. */
static struct span line_span(const struct cpart *c, unsigned line)
{
	const char *text = c->source->text;
	uint32_t at = c->part.start;

	for (; line > 1 && at < c->part.end; line--)
		at += (uint32_t)strcspn(text + at, "\n") + 1;
	return (struct span){at, at + (uint32_t)strcspn(text + at, "\r\n")};
}

/* Reports clang's first error: "FILE:LINE:COLUMN: error: TEXT". */
static bool report(struct run *r)
{
	struct cpart *c = r->part;
	size_t len, n = strlen(c->file);
	const char *text = file_text(r, r->messages, &len), *error = text ? strstr(text, "error: ") : NULL;
	struct span at = cpart_first_line(c);
	unsigned line;

	if (!error)
		return diag(c->diags, at, DIAG_C, "clang cannot compile this: %s", text ? text : "it says nothing");
	while (error > text && error[-1] != '\n')
		error--;
	if (!strncmp(error, c->file, n) && sscanf(error + n, ":%u:", &line) == 1) {
		at = line_span(c, line);
		error = strstr(error, "error: ") + strlen("error: ");
	}
	return diag(c->diags, at, DIAG_C, "clang: %.*s", (int)strcspn(error, "\n"), error);
}

static bool report_status(struct run *r, int status)
{
	struct cpart *c = r->part;
	struct span at = cpart_first_line(c);

	if (status == -ETIME)
		return diag(c->diags, at, DIAG_C, "clang has not compiled this within %d seconds", COMPILE_MS / 1000);
	if (status < 0)
		return diag(c->diags, at, DIAG_C, "clang cannot be run: %s", strerror(-status));
	if (WIFSIGNALED(status))
		return diag(c->diags, at, DIAG_C, "clang was ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) != NO_CLANG)
		return report(r);
	diag(c->diags, at, DIAG_C, "functions in C need clang, which compiles them and is not installed");
	diag_hint(c->diags, "install clang (the package of that name)");
	return false;
}

bool cpart_compile(void *state, struct c_object *ret)
{
	struct cpart *c = state;
	struct run r = {.part = c};
	int status = -EMFILE;
	bool ok = true;

	*ret = (struct c_object){.name = c->file};
	if (!c->called.len)
		return true;
	if (add_files(&r)) {
		set_args(&r);
		status = run_clang(&r);
	}
	ok = status ? report_status(&r, status) : (ret->data = (void *)file_text(&r, r.object, &ret->size)) != NULL;
	for (size_t i = 0; i < r.files.len; i++)
		close(r.files.data[i]);
	vec_done(&r.files);
	vec_done(&r.args);
	str_done(&r.text);
	str_done(&r.overlay);
	str_done(&r.map);
	return ok;
}
