// SPDX-License-Identifier: Apache-2.0
/* features.c - the features of this kernel.
 *
 * A kernel that is new enough has the feature, so its version is checked first, which costs nothing.
 * Distributions backport features to older kernels, so on an older one the feature is tried, if possible. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* A value of enum bpf_attach_type since Linux 5.18; older headers lack it. */
enum { TRACE_KPROBE_MULTI = 42 };

static int load_empty(enum bpf_prog_type type, uint32_t attach_type, int btf_id)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type,
		.attach_btf_id = btf_id);
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(type, "feature", "GPL", code, ARRAY_SIZE(code), &opts);
}

/* A kprobe needs perf's event source of that name. */
static bool ask_kprobe(struct target *t)
{
	_cleanup_(closep) int fd = target_openat(t, "/sys/bus/event_source/devices/kprobe", O_PATH);

	return fd >= 0;
}

/* Tries a link to no function: the error shows whether the kernel has such links. */
static bool ask_kprobe_multi(struct target *t)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.cnt = 0);
	_cleanup_(closep) int prog = load_empty(BPF_PROG_TYPE_KPROBE, TRACE_KPROBE_MULTI, 0);

	return prog >= 0 && bpf_link_create(prog, 0, (enum bpf_attach_type)TRACE_KPROBE_MULTI, &opts) == -EINVAL;
}

/* Attaches to a kernel function that exists for tests: arm64 could load such programs earlier than it could
 * attach them. */
static bool ask_fentry(struct target *t)
{
	int id = libbpf_find_vmlinux_btf_id("bpf_fentry_test1", BPF_TRACE_FENTRY);
	_cleanup_(closep) int prog = id > 0 ?
		load_empty(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, id) : -1;
	_cleanup_(closep) int link = prog >= 0 ? bpf_raw_tracepoint_open(NULL, prog) : -1;

	return link >= 0;
}

/* BTF of two functions without parameters, which are types 3 and 4. */
enum { TYPE_CALLER = 3, TYPE_FUNCTION, TYPES_SIZE = 4 * sizeof(struct btf_type) + 4, NAMES_SIZE = 21,
	TWO_FUNCTIONS_SIZE = sizeof(struct btf_header) + TYPES_SIZE + NAMES_SIZE };
static const struct {
	struct btf_header head;
	struct btf_type integer;
	uint32_t bits;
	struct btf_type type, caller, function;
	char names[NAMES_SIZE];
} two_functions = {
	.head = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(struct btf_header),
		.type_len = TYPES_SIZE, .str_off = TYPES_SIZE, .str_len = NAMES_SIZE },
	.integer = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 },
	.bits = BTF_INT_SIGNED << 24 | 32,
	.type = { .info = BTF_KIND_FUNC_PROTO << 24, .type = 1 },
	.caller = { .name_off = 5, .info = BTF_KIND_FUNC << 24 | BTF_FUNC_GLOBAL, .type = 2 },
	.function = { .name_off = 12, .info = BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC, .type = 2 },
	.names = "\0int\0caller\0function",
};

/* Loads a program with a function that makes a tail call. That needs BTF, and a jit that supports it. */
static bool ask_tail_call(struct target *t)
{
	_cleanup_(closep) int map = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "feature", 4, 4, 1, NULL);
	_cleanup_(closep) int btf = bpf_btf_load(&two_functions, TWO_FUNCTIONS_SIZE, NULL), prog = -1;
	const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_2, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpf_func_info info[] = { { 0, TYPE_CALLER }, { 3, TYPE_FUNCTION } };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_btf_fd = (uint32_t)btf, .func_info = info,
		.func_info_cnt = ARRAY_SIZE(info), .func_info_rec_size = sizeof(info[0]));

	if (map >= 0 && btf >= 0)
		prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "feature", "GPL", code, ARRAY_SIZE(code), &opts);
	return prog >= 0;
}

/* Some virtual machines accept a breakpoint but never stop at it, so a breakpoint on a word here is
 * counted. */
static bool ask_watchpoint(struct target *t)
{
	static volatile uint64_t word;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&word,
		.bp_len = sizeof(word),
		.exclude_kernel = 1,
	};
	_cleanup_(closep) int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t count = 0;

	if (fd < 0)
		return errno == ENOSPC || errno == EACCES || errno == EPERM; /* in use or not permitted */
	word = 1;
	return read(fd, &count, sizeof(count)) != sizeof(count) || count;
}

/* ask: checks a feature if the version does not decide. helper: a helper of programs that scripts use, or 0
 * if there is none to check. */
static const struct {
	unsigned since;
	enum bpf_func_id helper;
	bool (*ask)(struct target *t);
} rules[FEATURE_MAX] = {
	[FEATURE_BPF_LOOP] = { VERSION(5, 17), BPF_FUNC_loop },
	[FEATURE_UPROBE_MULTI] = { VERSION(6, 6), BPF_FUNC_unspec },
	/* Linux 6.0 has uprobes that sleep, 6.6 has them on multi links. kstack was seen to work in them
	 * from 6.12 on. */
	[FEATURE_UPROBE_SLEEP] = { VERSION(6, 12), BPF_FUNC_unspec },
	[FEATURE_KPROBE] = { .ask = ask_kprobe },
	[FEATURE_KPROBE_MULTI] = { .ask = ask_kprobe_multi },
	[FEATURE_FENTRY] = { .ask = ask_fentry },
	[FEATURE_TASK_PT_REGS] = { VERSION(5, 15), BPF_FUNC_task_pt_regs },
	[FEATURE_TAIL_CALL] = { .ask = ask_tail_call },
	[FEATURE_WATCHPOINT] = { .ask = ask_watchpoint },
	[FEATURE_MAP_ALLOC] = { VERSION(6, 1), BPF_FUNC_unspec }, /* kernel/bpf/memalloc.c in kernel/bpf/hashtab.c */
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
	if (rules[f].ask)
		return target_is_live(t) && rules[f].ask(t);
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

/* Even with 52 bits, the kernel gives a process addresses of 48 bits unless the process asks for more. The
 * kernel itself asks for more for the page through which uretprobes return. */
unsigned target_address_bits(void)
{
#ifdef __aarch64__
	static unsigned bits;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *high, *want = (void *)(1ul << 51);

	if (bits)
		return bits;
	high = mmap(want, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bits = high != MAP_FAILED && (uintptr_t)high >> 48 ? 52 : 48;
	if (high != MAP_FAILED)
		munmap(high, page);
	return bits;
#else
	return 47;
#endif
}
