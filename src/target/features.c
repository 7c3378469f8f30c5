// SPDX-License-Identifier: Apache-2.0
/* features.c - what this kernel can do.
 *
 * A version says yes at no cost. Distributions carry features back to older
 * kernels, so an old version is asked, where there is something to ask. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "target/priv.h"

#define VERSION(major, minor) ((major) << 16 | (minor) << 8)

static const struct {
	const char *name, *help;
} features[] = {
#define F(id, name, help) [FEATURE_##id] = { name, help },
#include "features.def"
#undef F
};

/* helper 0: nothing to ask; the program type is one that scripts use. */
static const struct {
	unsigned since;
	enum bpf_func_id helper;
} rules[FEATURE_MAX] = {
	[FEATURE_BPF_LOOP] = { VERSION(5, 17), BPF_FUNC_loop },
	[FEATURE_UPROBE_MULTI] = { VERSION(6, 6), BPF_FUNC_unspec },
	[FEATURE_TASK_PT_REGS] = { VERSION(5, 15), BPF_FUNC_task_pt_regs },
	[FEATURE_COOKIE] = { VERSION(5, 15), BPF_FUNC_get_attach_cookie },
};

unsigned target_kernel_version(struct target *t)
{
	_cleanup_(freep) char *text = NULL;
	unsigned major = 0, minor = 0;

	if (t->kernel_version)
		return t->kernel_version;
	text = target_read(t, "/proc/sys/kernel/osrelease", 256, NULL);
	if (text && sscanf(text, "%u.%u", &major, &minor) == 2)
		t->kernel_version = VERSION(major, minor);
	return t->kernel_version;
}

static bool probe(struct target *t, enum feature f)
{
	if (target_kernel_version(t) >= rules[f].since)
		return true;
	if (!target_is_live(t) || rules[f].helper == BPF_FUNC_unspec)
		return false;
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, rules[f].helper, NULL) == 1;
}

bool target_feature(struct target *t, enum feature f)
{
	uint32_t bit = 1u << f;

	if (t->disabled & bit)
		return false;
	if (!(t->asked & bit)) {
		t->asked |= bit;
		if (probe(t, f))
			t->features |= bit;
	}
	return t->features & bit;
}

const char *feature_name(enum feature f)
{
	return features[f].name;
}

const char *feature_help(enum feature f)
{
	return features[f].help;
}

bool target_disable(struct target *t, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		if (strcmp(features[i].name, name))
			continue;
		t->disabled |= 1u << i;
		return true;
	}
	return false;
}
