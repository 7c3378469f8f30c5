// SPDX-License-Identifier: Apache-2.0
/* hotspotcode.c - any bytes as the data of a Java virtual machine: its tables, a record from the ring buffer, and the
 * memory of its process, with methods, line tables and scopes. */
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "unwinders/hotspot/hotspot.h"
#include "unwinders/unwinders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
};

/* Each address leads into the bytes; the last few are not readable. */
static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	const struct memory *m = arg;

	if (!m->size || size > m->size)
		return -EFAULT;
	addr %= m->size;
	if (size > m->size - addr)
		return -EFAULT;
	memcpy(buf, m->data + addr, size);
	return 0;
}

static void check_names(const struct frame_name *n)
{
	for (unsigned i = 0; n; n = n->caller)
		if (i++ > 128 || (n->name && strlen(n->name) > 2 * 4096 + 2) || (n->file && strlen(n->file) > 4096 + 2))
			abort();
}

/* The bytes are the only segment of a file, whose texts are the tables' names. */
static void read_tables(const uint8_t *data, size_t size, const struct hotspot_memory *m)
{
	const struct hotspot_variables at = { .structs = 0, .types = 8, .ints = 16 };
	struct hotspot_layout l;
	size_t all = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + size;
	uint8_t *image = calloc(1, all);
	Elf64_Ehdr *h = (Elf64_Ehdr *)image;
	Elf64_Phdr *p = (Elf64_Phdr *)(h + 1);
	struct elf *e;

	memcpy(h->e_ident, ELFMAG "\2\1\1", 7);
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_version = 1;
	h->e_phoff = sizeof(*h);
	h->e_phentsize = sizeof(*p);
	h->e_phnum = 1;
	h->e_ehsize = sizeof(*h);
	*p = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = sizeof(*h) + sizeof(*p),
		.p_filesz = size, .p_memsz = size, .p_align = 1 };
	memcpy(p + 1, data, size);
	if (!elf_open_memory(image, all, &e)) {
		hotspot_read_tables(e, 0, m, &at, &l);
		elf_close(e);
	}
	free(image);
}

/* The members of a layout are offsets that a table could have: bounded, or absent. */
static void bound(struct hotspot_layout *l)
{
	int32_t *f = (int32_t *)&l->at;
	uint16_t *p = (uint16_t *)&l->proc;

	for (size_t i = 0; i < offsetof(struct hotspot_fields, complete_is_16) / 4; i++)
		f[i] = f[i] < 0 ? ABSENT : f[i] % 4096;
	for (size_t i = 4; i < sizeof(l->proc) / 2; i++)
		p[i] %= 4096;
	memset(&l->at.complete_is_16, 0, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hotspot_record *r = calloc(1, sizeof(*r));
	struct hotspot_layout *l = calloc(1, sizeof(*l));
	struct hotspot_codes *c = hotspot_codes_new();
	struct memory m = { data, size };
	struct hotspot_vm vm = { { read_memory, &m }, l };
	size_t half = size < sizeof(l->proc) + sizeof(l->at) ? size : sizeof(l->proc) + sizeof(l->at);
	struct frame_name name;
	uint64_t word;
	uint32_t id;

	memcpy(r, data, size < sizeof(*r) ? size : sizeof(*r));
	memcpy(l, data, half);
	bound(l);
	l->machine = size && data[0] & 1 ? EM_X86_64 : EM_AARCH64;
	l->major = size ? 8 + data[0] % 20 : 8;
	r->frame = FRAME_JAVA(7);
	hotspot_codes_record(c, r, NULL);
	r->frame = FRAME_JAVA(8);
	/* As if the code were still there. */
	if (hotspot_word(&vm, r->method, l->proc.method_const, &word))
		r->constant = word;
	if (hotspot_int(&vm, r->blob, l->proc.compile_id, &id))
		r->compile_id = id;
	hotspot_codes_record(c, r, &vm);
	for (uint64_t id = 1; id < 9; id++)
		if (hotspot_codes_name(c, FRAME_JAVA(id), &name))
			check_names(&name);
	hotspot_codes_free(c);
	read_tables(data, size, &vm.memory);
	free(l);
	free(r);
	return 0;
}
