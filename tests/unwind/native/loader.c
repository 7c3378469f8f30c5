// SPDX-License-Identifier: Apache-2.0
/* loader.c - loads the unwinder's object with main.bpf.c into the kernel. */
#include "loader.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/owner.h"
#include "bpf/objects.h"

extern const unsigned char bpf_obj_main[];
extern const size_t bpf_obj_main_size;

static int say(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN)
		vfprintf(stderr, fmt, ap);
	return 0;
}

static void add(struct bpf_linker *l, const void *data, size_t size)
{
	_cleanup_(closep) int fd = memfd_create("object", MFD_CLOEXEC);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) != (ssize_t)size || bpf_linker__add_file(l, path, NULL))
		abort();
}

static struct bpf_object *link_and_open(bool noloop, uint32_t languages)
{
	_cleanup_(closep) int fd = memfd_create("linked", MFD_CLOEXEC);
	struct bpf_object *obj;
	struct bpf_linker *l;
	struct stat st;
	char path[32];
	void *elf;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	l = bpf_linker__new(path, NULL);
	add(l, bpf_obj_main, bpf_obj_main_size);
	if (noloop)
		add(l, bpf_obj_stacks_noloop, bpf_obj_stacks_noloop_size);
	else
		add(l, bpf_obj_stacks, bpf_obj_stacks_size);
	if (bpf_linker__finalize(l))
		abort();
	bpf_linker__free(l);
	if (fstat(fd, &st))
		abort();
	elf = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (elf == MAP_FAILED || unwinders_leave_out(elf, (size_t)st.st_size, LANGS_ALL & ~languages))
		abort();
	obj = bpf_object__open_mem(elf, (size_t)st.st_size, NULL);
	munmap(elf, (size_t)st.st_size);
	return obj;
}

/* Either order: the linker may put main.bpf.c's variables first or last in .rodata. */
static void set_u32(struct bpf_object *obj, const char *name, uint32_t v)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, ".rodata");
	const struct btf *btf = bpf_object__btf(obj);
	const struct btf_type *sec = btf__type_by_id(btf,
		btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC));
	const struct btf_var_secinfo *s = btf_var_secinfos(sec);
	size_t size;
	char *data = bpf_map__initial_value(m, &size);

	for (int i = 0; i < btf_vlen(sec); i++)
		if (!strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, s[i].type)->name_off), name))
			memcpy(data + s[i].offset, &v, sizeof(v));
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int loader_open(struct target *t, uint32_t limit, bool noloop, uint32_t languages, struct loaded *ret)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int err;

	libbpf_set_print(say);
	ret->obj = link_and_open(noloop, languages);
	if (!ret->obj)
		return -errno;
	err = unwinders_prepare(t, ret->obj, limit, languages, &ret->maps);
	if (err)
		return err;
	unwinders_load_only(ret->obj, languages);
	set_u32(ret->obj, "test_limit", limit);
	ret->load_ms = now_ms();
	err = bpf_object__load(ret->obj);
	ret->load_ms = now_ms() - ret->load_ms;
	if (err)
		return err;
	bpf_prog_get_info_by_fd(bpf_program__fd(bpf_object__find_program_by_name(ret->obj, "test_walk")),
		&info, &size);
	ret->instructions = info.verified_insns;
	return 0;
}

void loader_close(struct loaded *l)
{
	if (l->maps)
		l->maps->free(l->maps);
	bpf_object__close(l->obj);
}

void loader_add(struct loaded *l, const struct test_process *p)
{
	for (size_t i = 1; i < p->nfiles; i++)
		if (p->files[i].table.data && l->maps->set_table(l->maps, p->first + i, p->files[i].table.data,
			p->files[i].table.size))
			abort();
	for (uint32_t i = 0; i < MAPPING_CHUNKS && p->chunk[i].n; i++)
		if (l->maps->set_chunk(l->maps, p->pid, i, &p->chunk[i]))
			abort();
	if (l->maps->flush(l->maps))
		abort();
}

struct bpf_link *loader_attach(struct loaded *l, const char *program, int pid, const char *path,
	const char *function, int at_return)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .retprobe = at_return);

	return bpf_program__attach_uprobe_multi(bpf_object__find_program_by_name(l->obj, program), pid,
		path, function, &opts);
}

int loader_result(struct loaded *l, struct stack_req *ret)
{
	int fd = bpf_map__fd(bpf_object__find_map_by_name(l->obj, "result"));
	struct stack_req none = {};
	uint32_t zero = 0;

	bpf_map_update_elem(fd, &zero, &none, BPF_ANY);
	for (int i = 0; i < 3000; i++) {
		usleep(1000);
		if (bpf_map_lookup_elem(fd, &zero, ret) == 0 && ret->nr)
			return 0;
	}
	return -1;
}
