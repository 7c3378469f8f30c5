// SPDX-License-Identifier: Apache-2.0
/* cpart_paths.c - the arguments of clang: the directories of headers, and C's own headers, which are part
 * of clang's package but not of its library. */
#include "cpart.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "target/target.h"

static void add(struct cpart *c, const char *arg)
{
	vec_push(&c->args, arg);
}

/* ---- C's own headers ---------------------------------------------------- */

/* ISO C11 7.19, 7.16, 7.18, 7.20, 5.2.4.2.1, as far as definitions of data use them. They are searched
 * last: a system's own headers, and clang's, come first. */
static const struct {
	const char *name, *text;
} c_headers[] = {
	{CPART_DIR "/stddef.h",
		"#pragma once\n"
		"typedef __SIZE_TYPE__ size_t;\n"
		"typedef __PTRDIFF_TYPE__ ptrdiff_t;\n"
		"typedef __WCHAR_TYPE__ wchar_t;\n"
		"#ifndef NULL\n#define NULL ((void *)0)\n#endif\n"
		"#define offsetof(type, member) __builtin_offsetof(type, member)\n"},
	{CPART_DIR "/stdarg.h",
		"#pragma once\n"
		"typedef __builtin_va_list va_list;\n"
		"typedef __builtin_va_list __gnuc_va_list;\n"},
	{CPART_DIR "/stdbool.h", "#pragma once\n#define bool _Bool\n#define true 1\n#define false 0\n"},
	{CPART_DIR "/stdint.h",
		"#pragma once\n"
		"typedef __INT8_TYPE__ int8_t; typedef __UINT8_TYPE__ uint8_t;\n"
		"typedef __INT16_TYPE__ int16_t; typedef __UINT16_TYPE__ uint16_t;\n"
		"typedef __INT32_TYPE__ int32_t; typedef __UINT32_TYPE__ uint32_t;\n"
		"typedef __INT64_TYPE__ int64_t; typedef __UINT64_TYPE__ uint64_t;\n"
		"typedef __INTPTR_TYPE__ intptr_t; typedef __UINTPTR_TYPE__ uintptr_t;\n"
		"typedef __INTMAX_TYPE__ intmax_t; typedef __UINTMAX_TYPE__ uintmax_t;\n"
		"#define INT8_MAX 127\n#define INT16_MAX 32767\n#define INT32_MAX 2147483647\n"
		"#define INT64_MAX 9223372036854775807L\n#define UINT8_MAX 255\n#define UINT16_MAX 65535\n"
		"#define UINT32_MAX 4294967295U\n#define UINT64_MAX 18446744073709551615UL\n"
		"#define SIZE_MAX UINT64_MAX\n"},
	{CPART_DIR "/limits.h",
		"#pragma once\n"
		"#define CHAR_BIT 8\n#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n"
		"#define UINT_MAX 4294967295U\n#define LONG_MAX 9223372036854775807L\n"
		"#define LONG_MIN (-LONG_MAX - 1)\n#define ULONG_MAX 18446744073709551615UL\n"
		"#define PATH_MAX 4096\n"},
	/* A header of the C library, for scripts that only want its macros: types and enums come from BTF.
	 * Linux 6.18, include/linux/socket.h. */
	{CPART_DIR "/sys/socket.h",
		"#pragma once\n"
		"#define AF_UNSPEC 0\n#define AF_UNIX 1\n#define AF_LOCAL 1\n#define AF_INET 2\n#define AF_INET6 10\n"
		"#define AF_NETLINK 16\n#define AF_PACKET 17\n#define AF_VSOCK 40\n"},
};

static void add_c_headers(struct cpart *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(c_headers); i++)
		vec_push(&c->files, (struct cx_unsaved){c_headers[i].name, c_headers[i].text,
						strlen(c_headers[i].text)});
	add(c, "-idirafter");
	add(c, CPART_DIR);
}

/* ---- the kernel's headers ----------------------------------------------- */

/* Folders of the kernel's include/ and include/uapi/, Linux 6.18. */
static const char *const kernel_folders[] = {
	"acpi", "asm", "asm-generic", "clocksource", "crypto", "cxl", "drm", "dt-bindings", "generated", "hyperv",
	"keys", "kunit", "kvm", "linux", "math-emu", "media", "memory", "misc", "mtd", "net", "pcmcia", "ras",
	"rdma", "rv", "scsi", "soc", "sound", "target", "trace", "uapi", "ufs", "vdso", "video", "xen",
};

/* Headers of the C library whose constants scripts use: known_constants.def. */
static const char *const constants_headers[] = {
	"arpa/inet.h", "dirent.h", "errno.h", "fcntl.h", "netinet/in.h", "netinet/tcp.h", "poll.h", "sched.h",
	"signal.h", "sys/epoll.h", "sys/mman.h", "sys/stat.h", "sys/types.h", "sys/wait.h", "unistd.h",
};

/* The C library also has some headers of <net/>. */
static const char *const libc_headers[] = {
	"net/ethernet.h", "net/if_ppp.h", "net/if_shaper.h", "net/if_slip.h", "net/ppp-comp.h", "net/ppp_defs.h",
	"net/route.h", "scsi/scsi_ioctl.h", "scsi/sg.h",
};

bool cpart_is_kernel_header(const char *name)
{
	size_t n = strcspn(name, "/");

	for (size_t i = 0; i < ARRAY_SIZE(libc_headers); i++)
		if (!strcmp(name, libc_headers[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(constants_headers); i++)
		if (!strcmp(name, constants_headers[i]))
			return true;
	for (size_t i = 0; name[n] && i < ARRAY_SIZE(kernel_folders); i++)
		if (strlen(kernel_folders[i]) == n && !memcmp(kernel_folders[i], name, n))
			return !strstr(name, "..");
	return false;
}

bool cpart_in_kernel_dir(const struct cpart *c, const char *path)
{
	for (size_t i = 0; i < c->kernel_dirs.len; i++) {
		size_t n = strlen(c->kernel_dirs.data[i]);

		if (!strncmp(path, c->kernel_dirs.data[i], n) && path[n] == '/')
			return true;
	}
	return false;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Returns the first of the directories that has include/linux/, or NULL if there is none. */
static const char *first_tree(struct cpart *c, const char *const *dirs, const char *below)
{
	for (; *dirs; dirs++)
		if (is_dir(arena_printf(c->arena, "%s/%s", *dirs, below)))
			return *dirs;
	return NULL;
}

static void add_kernel_dir(struct cpart *c, const char *tree, const char *below)
{
	const char *dir = arena_printf(c->arena, "%s/%s", tree, below);

	if (!is_dir(dir))
		return;
	add(c, "-isystem");
	add(c, dir);
}

/* Linux' Makefile, LINUXINCLUDE and USERINCLUDE. Distributions keep the source's headers apart from headers
 * that the build generates: Debian's linux-headers-*-common and linux-headers-*. */
static void add_kernel_dirs(struct cpart *c, const char *source, const char *build, const char *arch)
{
	const char *config = arena_printf(c->arena, "%s/include/linux/kconfig.h", source);
	const char *const below[] = {"arch/%s/include", "arch/%s/include/generated", "include",
		"arch/%s/include/uapi", "arch/%s/include/generated/uapi", "include/uapi",
		"include/generated/uapi"};

	vec_push(&c->kernel_dirs, source);
	vec_push(&c->kernel_dirs, build);
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		const char *arch_at = strstr(below[i], "%s");
		const char *dir = !arch_at ? below[i] :
			arena_printf(c->arena, "arch/%s%s", arch, arch_at + 2);

		add_kernel_dir(c, source, dir);
		if (strcmp(source, build) != 0)
			add_kernel_dir(c, build, dir);
	}
	add(c, "-include");
	add(c, config);
	add(c, "-D__KERNEL__");
	add(c, "-D__BPF_TRACING__"); /* headers leave out code that only a BPF compiler cannot read */
	add(c, "-DKBUILD_MODNAME=\"strata\"");
	add(c, "-fshort-wchar");
	log_info("headers of the kernel: %s", source);
}

static void find_kernel(struct cpart *c)
{
	const struct c_options *o = c->options;
	const char *lib, *usr, *source, *build, *arch;
	struct utsname u;

	if (uname(&u))
		return;
	arch = strcmp(u.machine, "aarch64") ? "x86" : "arm64";
	lib = arena_printf(c->arena, "/lib/modules/%s", u.release);
	usr = arena_printf(c->arena, "/usr/src/linux-headers-%s", u.release);
	source = first_tree(c,
		(const char *const[]){o->kernel_source ? o->kernel_source : o->kernel_build ? o->kernel_build : usr,
			arena_printf(c->arena, "%s/source", lib), arena_printf(c->arena, "%s/build", lib), NULL},
		"include/linux");
	build = first_tree(c,
		(const char *const[]){o->kernel_build ? o->kernel_build : o->kernel_source ? o->kernel_source : usr,
			arena_printf(c->arena, "%s/build", lib), arena_printf(c->arena, "%s/source", lib), NULL},
		"include/generated");
	c->has_kernel = source && build;
	if (c->has_kernel)
		add_kernel_dirs(c, source, build, arch);
}

/* ---- programs ----------------------------------------------------------- */

/* BPF programs include the kernel's headers for userspace, and those of libbpf. */
static void add_bpf(struct cpart *c)
{
	struct utsname u;

	add(c, "-target");
	add(c, "bpf");
	if (uname(&u))
		return;
	add(c, strcmp(u.machine, "aarch64") ? "-D__TARGET_ARCH_x86" : "-D__TARGET_ARCH_arm64");
	add(c, "-idirafter"); /* Debian has <asm/types.h> there */
	add(c, arena_printf(c->arena, "/usr/include/%s-linux-gnu", u.machine));
}

/* ---- all arguments -------------------------------------------------------- */

void cpart_set_args(struct cpart *c)
{
	const struct c_options *o = c->options;

	add(c, "-xc");
	add(c, "-std=gnu11");
	add(c, "-w");
	add(c, "-ferror-limit=200");
	add(c, "-fno-spell-checking"); /* cpart_errors.c reads the messages */
	add(c, "-include");
	add(c, CPART_BTF);
	if (c->target && target_has_btf(c->target))
		add(c, "-D" TYPES_HAVE_BTF); /* the tools of bpftrace check it */
	for (unsigned i = 0; i < o->ndirs; i++) {
		add(c, "-I");
		add(c, o->dirs[i]);
	}
	add(c, "-iquote"); /* the script's directory first, then, as in bpftrace, the current one */
	add(c, ".");
	if (c->is_program)
		add_bpf(c);
	if (c->reads_headers) {
		if (!c->is_program)
			find_kernel(c);
		add_c_headers(c);
	}
	for (unsigned i = 0; i < o->nfiles; i++) {
		add(c, "-include");
		add(c, o->files[i]);
	}
}
