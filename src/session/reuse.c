// SPDX-License-Identifier: Apache-2.0
#include "reuse.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/why.h"
#include "bpf/objects.h"
#include "session/shared.h"
#include "session/who.h"

static int attach(struct reuse *r, struct target *t, const struct shared *shared)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "strata");
	int err;

	r->obj = bpf_object__open_mem(bpf_obj_reuse, bpf_obj_reuse_size, &opts);
	if (!r->obj)
		return -errno;
	bpf_program__set_autoload(bpf_object__find_program_by_name(r->obj, "forget_mappings"), true);
	who_prepare(t, r->obj, 0);
	err = shared_use(shared, r->obj);
	err = err ? err : bpf_object__load(r->obj);
	if (err)
		return err;
	r->link = bpf_program__attach(bpf_object__find_program_by_name(r->obj, "forget_mappings"));
	return r->link ? 0 : -errno;
}

void reuse_open(struct reuse *r, struct target *t, const struct shared *shared)
{
	int err;

	if (r->obj || shared_fd(shared, "mappings") < 0)
		return;
	err = attach(r, t, shared);
	if (err)
		log_info("no raw tracepoint vm_unmapped_area (%s): closed libraries are noticed later", why_errno(err));
}

void reuse_close(struct reuse *r)
{
	bpf_link__destroy(TAKE(r->link));
	bpf_object__close(TAKE(r->obj));
}
