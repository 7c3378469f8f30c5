// SPDX-License-Identifier: Apache-2.0
/* leave_out_test.c - unwinders_leave_out(): calls of languages that are left out are gone, all others stay.
 * Damaged files are refused, or changed within their bounds. */
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/objects.h"
#include "../../lib/check.h"
#include "unwinders/unwinders.h"

enum { R_CALL = 10, DAMAGES = 3000, CUTS = 400 };

static char *copy_of(size_t size)
{
	char *elf = malloc(size + !size);

	memcpy(elf, bpf_obj_stacks, size);
	return elf;
}

/* Returns the number of calls of functions whose names begin with text. */
static unsigned calls(const char *elf, const char *text)
{
	const Elf64_Shdr *s = (const void *)(elf + ((const Elf64_Ehdr *)elf)->e_shoff);
	unsigned n = 0, sections = ((const Elf64_Ehdr *)elf)->e_shnum;

	for (unsigned i = 0; i < sections; i++) {
		const Elf64_Rel *r = (const void *)(elf + s[i].sh_offset);

		for (size_t k = 0; s[i].sh_type == SHT_REL && k < s[i].sh_size / sizeof(*r); k++) {
			const Elf64_Sym *sym = (const Elf64_Sym *)(elf + s[s[i].sh_link].sh_offset) +
				ELF64_R_SYM(r[k].r_info);
			const char *name = elf + s[s[s[i].sh_link].sh_link].sh_offset + sym->st_name;

			n += ELF64_R_TYPE(r[k].r_info) == R_CALL && !strncmp(name, text, strlen(text));
		}
	}
	return n;
}

static void test_calls(void)
{
	size_t size = bpf_obj_stacks_size;
	char *elf = copy_of(size);
	unsigned all = calls(elf, ""), walks = calls(elf, "walk_");
	struct bpf_object *obj;

	CHECK(!unwinders_leave_out(elf, size, 0) && !memcmp(elf, bpf_obj_stacks, size));
	CHECK(calls(elf, "python_next") && calls(elf, "v8_frame") && calls(elf, "go_unwind"));
	CHECK(!unwinders_leave_out(elf, size, 1U << FRAME_LANG_PYTHON));
	CHECK(!calls(elf, "python_next") && !calls(elf, "python_begin") && !calls(elf, "python_forget"));
	CHECK(calls(elf, "python_window") && calls(elf, "v8_frame") && calls(elf, "php_next"));
	CHECK(!unwinders_leave_out(elf, size, LANGS_ALL));
	CHECK(!calls(elf, "v8_frame") && !calls(elf, "go_unwind"));
	CHECK(calls(elf, "walk_") == walks && calls(elf, "") < all);
	obj = bpf_object__open_mem(elf, size, NULL);
	CHECK(obj);
	bpf_object__close(obj);
	free(elf);
}

static bool survives(char *elf, size_t size)
{
	int r = unwinders_leave_out(elf, size, LANGS_ALL);

	free(elf);
	return !r || r == -EINVAL;
}

/* Each copy has exactly its size, so that the sanitizers see what is read or written beyond it. */
static void test_damage(void)
{
	size_t size = bpf_obj_stacks_size;
	const Elf64_Ehdr *h = (const void *)bpf_obj_stacks;
	char *elf = copy_of(size);

	elf[0] = 'x';
	CHECK(unwinders_leave_out(elf, size, LANGS_ALL) == -EINVAL);
	free(elf);
	for (size_t i = 0; i < CUTS; i++)
		CHECK(survives(copy_of(size * i / CUTS), size * i / CUTS));
	srand(1);
	for (int i = 0; i < DAMAGES; i++) {
		size_t sections = h->e_shnum * sizeof(Elf64_Shdr);

		elf = copy_of(size);
		for (int k = 0; k < 4; k++)
			elf[i % 2 ? h->e_shoff + (size_t)rand() % sections : (size_t)rand() % size] = (char)rand();
		CHECK(survives(elf, size));
	}
}

int main(void)
{
	libbpf_set_print(NULL);
	test_calls();
	test_damage();
	return failed;
}
