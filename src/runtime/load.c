// SPDX-License-Identifier: Apache-2.0
/* load.c - image -> kernel. libbpf speaks through a callback: its words are kept,
 * and shown with -vv, or where a refusal has to be explained. */
#include "load.h"

#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/source.h"
#include "base/str.h"
#include "bpf/lib/record.h"
#include "model/provider.h"
#include "runtime/attach.h"
#include "runtime/who.h"
#include "runtime/why.h"
#include "target/target.h"
#include "unwinders/maps/rodata.h"
#include "unwinders/unwinders.h"

enum { RING_SMALL = 256 * 1024, RING_STACKS = 8 * 1024 * 1024 };

static struct str said; /* by libbpf, during one load */

static int listen(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_DEBUG && log_level < 2)
		return 0;
	str_addvf(&said, fmt, ap);
	return 0;
}

/* ---- refusals ----------------------------------------------------------- */

/* "libbpf: prog 'probe_3': BPF program load failed" names the culprit. */
static const struct image_prog *refused_prog(const struct image *img)
{
	const char *at = strstr(str_text(&said), "prog 'probe_");
	unsigned long i;

	if (!at)
		return NULL;
	i = strtoul(at + 12, NULL, 10);
	return i < img->nprogs ? &img->progs[i] : NULL;
}

/* The verifier's last word: the line before "processed N insns". */
static void verifier_reason(char *buf, size_t size)
{
	const char *text = str_text(&said), *end = strstr(text, "\nprocessed ");
	const char *from;

	*buf = 0;
	if (!end)
		return;
	for (from = end; from > text && from[-1] != '\n'; from--)
		;
	snprintf(buf, size, "%.*s", (int)(end - from), from);
}

/* Limits of the kernel that a script may meet, by a word of the verifier's. */
static const struct {
	const char *word, *text, *hint;
} limits[] = {
	{"BPF program is too large", "this probe takes the kernel more than a million steps to verify",
		"split it into several probes, or write what repeats as a loop"},
	{"jumps is too complex", "this probe has more branches than the kernel verifies",
		"split it into several probes, or write what repeats as a loop"},
	{"too many subprograms", "this probe has more loops than the 256 functions that the kernel allows",
		"split it into several probes"},
	{"maps per program has reached the limit",
		"this probe uses more maps than the 64 that the kernel allows in one program",
		"some of the 64 are strata's own; use one map with several keys, @name[\"a\"] and @name[\"b\"], "
		"or several probes"},
	{"combined stack size", "this probe needs more than the 512 bytes of stack that the kernel allows",
		"take stacks outside of loops, and split long expressions"},
	{"frames is too deep", "this probe needs more than the 8 nested calls that the kernel allows",
		"each loop is one, and walking a user stack takes 6: take it before the loops, $s = ustack"},
};

static void complain_at(const struct image *img, const struct image_prog *p, const char *text,
	const char *hint)
{
	struct arena *a = arena_new();
	struct diags *d = diags_new(a, img->source);

	diag(d, p->span, DIAG_TOO_LARGE, "%s", text);
	diag_hint(d, "%s", hint);
	diags_print(d, stderr, false);
	arena_free(a);
}

static void tell_verifier(const struct image *img, int r)
{
	const struct image_prog *p = refused_prog(img);
	char reason[256];

	if (strstr(str_text(&said), "(-24)")) /* "failed to create: Too many open files(-24)" */
		r = -EMFILE;
	verifier_reason(reason, sizeof(reason));
	if (!p || !*reason || r == -EMFILE) {
		why_no_bpf(r);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (strstr(reason, limits[i].word)) {
			complain_at(img, p, limits[i].text, limits[i].hint);
			return;
		}
	log_error("internal error: the kernel's verifier refuses the probe %s: %s",
		img->places[p->first_place].place->name, reason);
	log_hint("please report this, with the script and the output of strata -vv");
}

static int refuse(const struct image *img, int r)
{
	if (log_level >= 2)
		fputs(str_text(&said), stderr);
	tell_verifier(img, r);
	return r;
}

/* ---- sizes and types ---------------------------------------------------- */

static void size_map(struct bpf_object *obj, const char *name, uint32_t value_size,
	uint32_t entries)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

	if (m && value_size)
		bpf_map__set_value_size(m, value_size);
	if (m && entries)
		bpf_map__set_max_entries(m, entries);
}

/* A trampoline's program is loaded for its function. */
static int set_function(const struct image *img, const struct image_prog *p, struct target *t,
	struct bpf_program *bpf)
{
	const struct place *place = img->places[p->first_place].place;
	int r;

	if (!target_feature(t, FEATURE_FENTRY)) {
		log_error("cannot attach to %s: this kernel lacks BPF trampolines, or does not "
			  "permit them", place->name);
		log_hint("they need Linux 5.5, on arm64 6.4; kprobes could stand in, but this "
			 "kernel has none of them either");
		return -EOPNOTSUPP;
	}
	r = bpf_program__set_attach_target(bpf, 0, place->func);
	if (r)
		log_error("cannot attach to %s: %s", place->name, why_errno(r));
	return r;
}

static int prepare_progs(const struct image *img, struct target *t, struct bpf_object *obj)
{
	for (unsigned i = 0; i < img->nprogs; i++) {
		const struct image_prog *p = &img->progs[i];
		struct bpf_program *bpf = bpf_object__find_program_by_name(obj, p->name);

		if (!bpf) {
			log_error("internal error: %s is not in the linked object", p->name);
			return -ENOENT;
		}
		bpf_program__set_type(bpf, p->provider->prog_type);
		bpf_program__set_expected_attach_type(bpf, probe_is_multi(t, img, p) ?
			p->provider->multi_type : p->provider->attach_type);
		if (p->provider->ctx == CTX_TRAMPOLINE && set_function(img, p, t, bpf))
			return -EOPNOTSUPP;
	}
	return 0;
}

/* Of tree.bpf.c, which is linked with -c only. */
static void prepare_tree(struct target *t, struct bpf_object *obj)
{
	uint32_t *offset = rodata_find(obj, "task_tgid_offset", sizeof(*offset));
	int at;

	if (!offset)
		return;
	at = target_btf_offset(t, "task_struct", "tgid");
	if (at < 0) {
		log_warn("without kernel BTF the children of the command are not traced");
		return;
	}
	*offset = at;
}

/* A power of two of pages, as the kernel wants it. */
static uint32_t ring_size(const struct image *img)
{
	uint64_t page = sysconf(_SC_PAGESIZE), pages = 1;

	if (!img->ring)
		return page;
	if (!img->ring_pages)
		return img->user_stacks || img->kernel_stacks ? RING_STACKS : RING_SMALL;
	while (pages < img->ring_pages)
		pages *= 2;
	return pages * page;
}

/* Told here: the verifier would only say that it knows no such function. */
static bool lacks_stacks(struct target *t)
{
	if (!target_feature(t, FEATURE_TASK_PT_REGS)) {
		log_error("user stacks cannot be walked: this kernel lacks the %s",
			feature_help(FEATURE_TASK_PT_REGS));
		log_hint("Linux 5.15 has all that is needed; strata --info shows what "
			 "this one has");
		return true;
	}
	if (!target_feature(t, FEATURE_BPF_LOOP))
		log_info("very deep stacks are cut: this kernel lacks the %s", feature_help(FEATURE_BPF_LOOP));
	return false;
}

static int prepare(const struct image *img, struct target *t, struct load *l)
{
	struct bpf_object *obj = l->obj;

	size_map(obj, "scratch", img->scratch_size, 0);
	size_map(obj, "ring", 0, ring_size(img));
	if (img->user_stacks && lacks_stacks(t))
		return -EOPNOTSUPP;
	if (img->user_stacks) {
		int r = unwinders_prepare(t, obj, img->stack_limit ? img->stack_limit : 1, &l->maps);

		if (r == -ENOENT)
			log_error("internal error: the unwinder is not in the linked object");
		else if (r)
			why_no_bpf(r);
		if (r)
			return r;
	}
	prepare_tree(t, obj);
	who_prepare(t, obj, l->only_pid);
	return prepare_progs(img, t, obj);
}

/* A file each, and some more for what is read meanwhile. (libbpf has opened one for each map.) */
static int check_files(struct bpf_object *obj)
{
	unsigned n = 4;
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj)
		n++;
	return files_suffice(n);
}

static void *verify(void *arg)
{
	struct load *l = arg;

	l->result = bpf_object__load(l->obj);
	return NULL;
}

int load_start(const struct image *img, struct target *t, struct load *l)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "strata");
	int r;

	libbpf_set_print(listen);
	str_clear(&said);
	l->obj = bpf_object__open_mem(img->elf, img->elf_size, &opts);
	if (!l->obj) {
		r = -errno;
		if (r == -EMFILE || r == -ENFILE)
			log_error("cannot load the script: %s", why_errno(r));
		else
			log_error("internal error: libbpf refuses the object: %s", str_text(&said));
		return r;
	}
	r = check_files(l->obj);
	if (!r)
		r = prepare(img, t, l); /* it has said why not */
	if (r)
		return r;
	l->is_under_way = !pthread_create(&l->thread, NULL, verify, l);
	if (!l->is_under_way)
		verify(l);
	return 0;
}

int load_wait(const struct image *img, struct load *l)
{
	if (l->is_under_way)
		pthread_join(l->thread, NULL);
	l->is_under_way = false;
	if (l->result)
		return refuse(img, l->result);
	if (log_level >= 2)
		fputs(str_text(&said), stderr);
	return 0;
}
