// SPDX-License-Identifier: Apache-2.0
/* session_test.c - a session with several images: one uses a map of another that is dropped, a later
 * one is the first to use stacks, some are refused; in the end nothing is left in the kernel. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/owner.h"
#include "base/vec.h"
#include "driver/driver.h"
#include "ids.h"
#include "model/image.h"
#include "parser/settings.h"
#include "output/output.h"
#include "output/stream.h"
#include "session/session.h"
#include "target/target.h"

static struct target *target;
static struct arena *arena;
static struct session *session;
static struct settings settings;
static struct stream *stream;
static VEC(const struct image *) images; /* those added */
static char path[] = "/tmp/strata-session-XXXXXX", errors[] = "/tmp/strata-session-XXXXXX";
static unsigned count, failed;

static void check(bool ok, const char *what, const char *detail)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++count, what);
	failed += !ok;
	for (const char *line = ok ? "" : detail; *line; line += *line == '\n') {
		printf("# %.*s\n", (int)strcspn(line, "\n"), line);
		line += strcspn(line, "\n");
	}
	fflush(stdout);
}

static const char *read_file(const char *name)
{
	static char text[1 << 20];
	_cleanup_(fclosep) FILE *f = fopen(name, "re");

	text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = 0;
	return text;
}

/* ---- scripts ------------------------------------------------------------ */

/* alone: without the names of earlier scripts. NULL: the script has an error. */
static struct image *compile_text(const char *text, bool alone)
{
	struct symbols *symbols = arena_new_obj(arena, struct symbols);
	struct compile *c = arena_new_obj(arena, struct compile);

	*symbols = (struct symbols){images.data, images.len};
	c->arena = arena;
	c->source = (struct source){.name = "-e", .text = text, .len = strlen(text)};
	c->req = (struct request){
		.arena = arena,
		.diags = diags_new(arena, &c->source),
		.target = target,
		.symbols = alone ? NULL : symbols,
	};
	c->codegen = (struct codegen_options){
		.image = session_next(session),
		.grows = session_next_grows(session),
		.ncpus = libbpf_num_possible_cpus(),
		.no_cookies = !target_feature(target, FEATURE_COOKIE),
		.no_loops = !target_feature(target, FEATURE_BPF_LOOP),
	};
	return compile(c) ? c->image : NULL;
}

static int add_text(const char *text, bool alone)
{
	struct image *img = compile_text(text, alone);
	int r = img ? session_add(session, img) : -ENOEXEC;

	if (!r)
		vec_push(&images, img);
	return r;
}

static int add(const char *text)
{
	return add_text(text, false);
}

/* ---- the output --------------------------------------------------------- */

/* Returns the number after the last "WHAT: ", or -1 if none was printed. */
static long last(const char *what)
{
	const char *text = read_file(path), *found = NULL;
	size_t n = strlen(what);

	for (const char *at = text; (at = strstr(at, what)); at += n)
		if (at == text || at[-1] == '\n')
			found = at;
	return found && !strncmp(found + n, ": ", 2) ? atol(found + n + 2) : -1;
}

/* Polls until WHAT's number is n or more, for 10 s. */
static bool poll_until(const char *what, long n)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 10000000000ull;

	while (last(what) < n && clock_ns(CLOCK_MONOTONIC) < end)
		if (!session_poll(session, 20))
			return last(what) >= n;
	return last(what) >= n;
}

static void poll_ms(unsigned ms)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ms * 1000000ull;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		session_poll(session, 20);
}

/* ---- the cases ---------------------------------------------------------- */

/* The file is removed before its probe is attached. */
static void fails_to_attach(void)
{
	char copy[] = "/tmp/strata-session-XXXXXX", text[256];
	struct image *img;

	close(mkstemp(copy));
	snprintf(text, sizeof(text), "cp /proc/%d/exe %s", getpid(), copy);
	if (system(text))
		abort();
	snprintf(text, sizeof(text), "begin { @early = 1 } uprobe:%s:burn_cycles { @early++ }", copy);
	img = compile_text(text, false);
	unlink(copy);
	check(img && session_add(session, img) < 0 && session_next(session) == 1 && session_poll(session, 0),
		"a first image that cannot be attached", read_file(errors));
	check(!add("begin { @early = \"text\" }"), "..leaves no map behind", read_file(errors));
}

#define FIRST "interval:ms:10 { @n = count(); @by[probe] = count(); printf(\"first: %d\\n\", @n) } " \
	      "end { printf(\"end: 1\\n\") }"
#define SECOND "interval:ms:11 { @n = count(); @by[probe] = count(); printf(\"second: %d\\n\", @n) }"

static void two_images(void)
{
	uint32_t first = session_next(session);
	long before, dropped;

	check(!add(FIRST) && poll_until("first", 3), "the first image counts and prints", read_file(path));
	before = last("first");
	check(!add(SECOND) && poll_until("second", before + 3), "the second goes on with the first's map",
		read_file(path));
	poll_until("first", last("second"));
	check(!session_drop(session, first) && last("end") == 1, "the first is dropped: its end runs",
		read_file(path));
	before = last("first");
	dropped = last("second");
	check(poll_until("second", dropped + 5) && last("first") == before,
		"the second still counts, the first does not", read_file(path));
	check(session_drop(session, first) == -ENOENT && session_drop(session, 70) == -ENOENT,
		"an image is dropped once", "");
}

static bool has_said(const char *text)
{
	return strstr(read_file(errors), text);
}

static void refused(void)
{
	uint32_t next = session_next(session);

	check(add("interval:ms:20 { @n = \"text\"; @by = 1 }") == -ENOEXEC && session_next(session) == next &&
			has_said("@n holds count, not string[5] [map-type]") && has_said("@by needs a key [map-key]"),
		"the checker knows the maps of earlier scripts", read_file(errors));
	check(add_text("interval:ms:20 { @n = \"text\" }", true) == -EINVAL &&
			has_said("error: the value of @n is count in an earlier script, not string[5]\n"),
		"so does the session", read_file(errors));
	check(session_next(session) == next + 1, "a number is used up", "");
	check(add("interval:ms:20 { print(@missing) }") == -ENOEXEC, "a map that nobody writes", "");
	check(!add("begin { printf(\"read: %d\\n\", @n); @text = \"sixteen bytes..\" }") && last("read") > 5,
		"a script may only read a map", read_file(path));
	check(!add("begin { @text = \"short\"; printf(\"%s: 1\\n\", @text) }") && last("short") == 1,
		"a string that fits", read_file(path));
	check(add("begin { @text = \"a string that is longer\" }") == -ENOEXEC, "..that does not", "");
}

static volatile unsigned long burnt;

__attribute__((noinline)) static void burn_cycles(void)
{
	for (;;)
		burnt++;
}

static void stacks(void)
{
	char text[256];
	pid_t pid = fork();

	if (!pid)
		burn_cycles();
	snprintf(text, sizeof(text), "profile:hz:500 /pid == %d/ { @s[ustack, kstack] = count(); @t = count(); "
		"printf(\"samples: %%d\\n\", @t) }", pid);
	check(!add(text) && poll_until("samples", 20), "stacks, first asked for by a later image", read_file(errors));
	check(!add("begin { print(@s) }") && strstr(read_file(path), "@s[\n        burn_cycles"),
		"they have names, also for a script that only prints them", read_file(path));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void end(void)
{
	long n, by10, by11;

	check(!add("interval:ms:30 { exit(3) }"), "exit()", "");
	poll_ms(300);
	check(!session_poll(session, 0), "..ends the session", "");
	check(session_finish(session) == 3, "..with its code", "");
	n = last("@n");
	by10 = last("@by[interval:ms:10]");
	by11 = last("@by[interval:ms:11]");
	check(by10 > 0 && by11 > 0 && n == by10 + by11,
		"the maps have what both images counted, with the probe's name of each", read_file(path));
}

/* The kernel frees the objects later. */
static void nothing_left(const struct ids *before, const struct ids *ours)
{
	struct ids after;
	size_t new = 1, left = 1;

	for (int i = 0; i < 100 && (new || left); i++) {
		usleep(i ? 100000 : 0);
		ids_all(&after);
		new = ids_new(before, &after, i == 99);
		left = ids_both(ours, &after, i == 99);
		ids_done(&after);
	}
	check(ours->n[ID_PROG] >= 5 && ours->n[ID_MAP] >= 10 && ours->n[ID_LINK] >= 2,
		"programs, maps and links were made", "");
	check(!left, "none of them is left in the kernel", "");
	if (new && ids_elsewhere())
		printf("ok %u - ..nor any other # SKIP another process uses BPF\n", ++count);
	else
		check(!new, "..nor any other", "");
}

static void open_all(void)
{
	struct session_options opt = {.settings = &settings, .output = outputs[0], .grows = true, .quiet = true};

	settings = settings_default();
	close(mkstemp(path));
	close(mkstemp(errors));
	if (!freopen(errors, "w", stderr))
		abort();
	setvbuf(stderr, NULL, _IONBF, 0);
	target = target_open("/");
	arena = arena_new();
	check(!stream_open(path, &stream), "a stream", "");
	opt.stream = stream;
	check(!session_open(target, &opt, &session), "a session", read_file(errors));
}

/* Arguments: features that the kernel is assumed to lack. */
int main(int argc, char **argv)
{
	struct ids before, ours;

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	ids_all(&before);
	open_all();
	for (int i = 1; i < argc; i++)
		target_disable(target, argv[i]);
	fails_to_attach();
	two_images();
	refused();
	stacks();
	ids_open(&ours);
	end();
	session_close(session);
	check(!stream_close(stream), "all was written", "");
	nothing_left(&before, &ours);
	printf("1..%u\n", count);
	ids_done(&before);
	ids_done(&ours);
	vec_done(&images);
	arena_free(arena);
	target_close(target);
	unlink(path);
	unlink(errors);
	return failed > 0;
}
