// SPDX-License-Identifier: Apache-2.0
/* uprobe_attach.c - attaches to places in files.
 *
 * All places of a file are in one multi link: attaching and detaching thousands costs as much as one. A place
 * that the kernel cannot probe, because of an instruction that it does not emulate, is skipped. */
#include "uprobe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/owner.h"
#include "probes.h"
#include "target/target.h"

struct batch { /* places of one file that are attached in the same way */
	struct loaded_probe *p;
	const char *path;
	unsigned long *offsets, *ref_ctrs; /* offsets in the file */
	uint64_t *cookies;
	const struct place **places;
	bool ret;
	bool counted; /* some have a semaphore */
};

/* Restricts the link to -p's process, so that other processes with the file are not slowed down, and their
 * semaphores are not set. Before Linux 6.10 such a link was for only one thread. */
static int only_process(const struct loaded_probe *p)
{
	return p->pid && target_kernel_version(p->target) >= (6 << 16 | 10 << 8) ? p->pid : -1;
}

static struct bpf_link *link_range(const void *batch, size_t from, size_t n)
{
	const struct batch *b = batch;
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts,
		.offsets = b->offsets + from,
		.ref_ctr_offsets = b->counted ? b->ref_ctrs + from : NULL,
		.cookies = (const __u64 *)b->cookies + from,
		.cnt = n,
		.retprobe = b->ret);

	return bpf_program__attach_uprobe_multi(b->p->bpf, only_process(b->p), b->path, NULL, &opts);
}

/* Kernels before 6.6 need one perf event uprobe per place. */
static int attach_single(const struct batch *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = b->cookies[i],
			.ref_ctr_offset = b->ref_ctrs[i], .retprobe = b->ret);
		int r = probe_link(b->p, b->places[i], bpf_program__attach_uprobe_opts(
			b->p->bpf, -1, b->path, b->offsets[i], &opts));

		if (r)
			return r;
	}
	return 0;
}

static int attach_file(struct batch *b, size_t n)
{
	unsigned skipped = b->p->links->skipped;
	int r;

	if (!probe_is_multi(b->p->target, b->p->image, b->p->prog))
		return attach_single(b, n);
	r = probe_link_halved(b->p, b->places, link_range, b, 0, n);
	if (!r && b->p->links->skipped - skipped == n) {
		log_error("cannot attach to %s: the kernel cannot probe the instruction there",
			b->places[0]->name);
		return -EOPNOTSUPP;
	}
	return r;
}

int uprobe_attach_all(struct loaded_probe *p, bool ret)
{
	uint32_t n = p->prog->nplaces;
	_cleanup_(freep) unsigned long *offsets = calloc(n, sizeof(*offsets));
	_cleanup_(freep) unsigned long *ref_ctrs = calloc(n, sizeof(*ref_ctrs));
	_cleanup_(freep) uint64_t *cookies = calloc(n, sizeof(*cookies));
	_cleanup_(freep) const struct place **places = calloc(n, sizeof(*places));
	struct batch b = {.p = p, .offsets = offsets, .ref_ctrs = ref_ctrs, .cookies = cookies, .places = places};
	int r = 0;

	if (!offsets || !ref_ctrs || !cookies || !places)
		return -ENOMEM;
	for (uint32_t i = 0, k; i < n && !r; i += k) {
		b.path = probe_place(p, i)->path;
		b.counted = false;
		b.ret = ret && !probe_place(p, i)->at_return;
		for (k = 0; i + k < n && !strcmp(probe_place(p, i + k)->path, b.path) &&
			probe_place(p, i + k)->at_return == probe_place(p, i)->at_return; k++) {
			places[k] = probe_place(p, i + k);
			offsets[k] = places[k]->offset + places[k]->skip;
			ref_ctrs[k] = places[k]->ref_ctr;
			b.counted |= ref_ctrs[k] != 0;
			cookies[k] = probe_cookie(p, i + k);
		}
		r = attach_file(&b, k);
	}
	return r;
}
