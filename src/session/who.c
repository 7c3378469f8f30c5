// SPDX-License-Identifier: Apache-2.0
/* who.c - constants of bpf/lib/who.bpf.c, and its switch. */
#include "who.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "target/target.h"
#include "unwinders/maps/rodata.h"

static void set32(struct bpf_object *obj, const char *name, uint32_t value)
{
	uint32_t *at = rodata_find(obj, name, sizeof(*at));

	if (at)
		*at = value;
}

static void set64(struct bpf_object *obj, const char *name, uint64_t value)
{
	uint64_t *at = rodata_find(obj, name, sizeof(*at));

	if (at)
		*at = value;
}

/* in the order of ns_offsets */
static void set_offsets(struct target *t, struct bpf_object *obj)
{
	static const char *const members[][2] = {
		{"task_struct", "thread_pid"}, {"task_struct", "group_leader"}, {"pid", "level"},
		{"pid", "numbers"}, {"pid_namespace", "ns.inum"},
	};
	uint32_t offsets[ARRAY_SIZE(members)];
	void *at = rodata_find(obj, "ns_offsets", sizeof(offsets));

	for (size_t i = 0; at && i < ARRAY_SIZE(members); i++) {
		int offset = target_btf_offset(t, members[i][0], members[i][1]);

		if (offset < 0) {
			log_info("processes of PID namespaces within this one have no pid: the "
				 "kernel has no BTF");
			return;
		}
		offsets[i] = offset;
	}
	if (at)
		memcpy(at, offsets, sizeof(offsets));
}

void who_prepare(struct target *t, struct bpf_object *obj, int only_pid)
{
	const struct pid_ns *ns = target_pid_ns(t);

	set32(obj, "only_pid", only_pid);
	set32(obj, "own_pid", getpid());
	if (!ns->inode)
		return;
	set64(obj, "pid_ns_dev", ns->dev);
	set64(obj, "pid_ns_inode", ns->inode);
	set_offsets(t, obj);
}

void who_stop(struct bpf_object *obj)
{
	const uint32_t zero = 0, one = 1;
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
		if (strstr(bpf_map__name(m), ".data.stopped"))
			bpf_map_update_elem(bpf_map__fd(m), &zero, &one, BPF_ANY);
	/* Programs run within RCU sections: this waits until all of them have ended. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(20000);
}
