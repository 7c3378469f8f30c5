// SPDX-License-Identifier: Apache-2.0
/* push.c - see push.h. The host's shell asks for the program by a line. The answer is a line with the number of bytes
 * that follow, and the gzipped program, whose checksum gzip verifies. */
#include "push.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "output/pack.h"

#define WANTED "strata: the program is wanted"

struct push {
	unsigned char *data;
	size_t size;
	const char *machine; /* as uname -m prints it */
	char *packed;        /* NULL: not yet */
	size_t npacked;
};

/* %1$s: machine, %2$s: name of the program's file, %3$s: the command. */
static const char COMMAND[] =
	"d=${XDG_CACHE_HOME:-${HOME:?}/.cache}/strata/programs p=$d/%2$s m=$(uname -m)\n"
	"if [ \"$m\" != %1$s ]; then\n"
	"	echo \"--push has a program for %1$s, and this is $m\" >&2; exit 1\n"
	"elif [ ! -x \"$p\" ]; then\n"
	"	umask 077\n"
	"	mkdir -p \"$d\" && echo '" WANTED "' && read -r n && head -c \"$n\" | gzip -dc >\"$p.$$\" &&\n"
	"		chmod 700 \"$p.$$\" && mv \"$p.$$\" \"$p\" || { rm -f \"$p.$$\"; exit 1; }\n"
	"fi\n"
	"touch \"$p\"; find \"$d\" -type f -mtime +30 -exec rm -f {} +\n"
	"strata() { exec \"$p\" \"$@\"; }\n"
	"%3$s";

/* ---- the program ---------------------------------------------------------- */

static const char *machine_of(const Elf64_Ehdr *h)
{
	return h->e_machine == EM_X86_64 ? "x86_64" : h->e_machine == EM_AARCH64 ? "aarch64" : NULL;
}

/* Returns whether a program needs an interpreter: the dynamic linker, which finds other libraries elsewhere. */
static bool is_dynamic(const struct push *p, const Elf64_Ehdr *h)
{
	Elf64_Phdr ph;

	for (size_t i = 0; i < h->e_phnum; i++) {
		size_t at = h->e_phoff + i * sizeof(ph);

		if (at < h->e_phoff || at > p->size - sizeof(ph))
			return false;
		memcpy(&ph, p->data + at, sizeof(ph));
		if (ph.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* Returns the reason for which the program cannot run elsewhere, or NULL. */
static const char *unfit(struct push *p)
{
	Elf64_Ehdr h;

	if (p->size < sizeof(h))
		return "it is not a program";
	memcpy(&h, p->data, sizeof(h));
	p->machine = machine_of(&h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 || !p->machine)
		return "it is not a program for x86_64 or aarch64";
	return is_dynamic(p, &h) ? "it needs libraries, which the hosts may not have" : NULL;
}

static int read_program(struct push *p, const char *path)
{
	_cleanup_(closep) int fd = regular_open(AT_FDCWD, path, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	p->data = malloc((size_t)st.st_size + 1);
	if (!p->data)
		return -ENOMEM;
	while (p->size < (size_t)st.st_size) {
		ssize_t n = read(fd, p->data + p->size, (size_t)st.st_size - p->size);

		if (n <= 0)
			return n ? -errno : -EIO;
		p->size += (size_t)n;
	}
	return 0;
}

struct push *push_open(const char *path)
{
	struct push *p = calloc(1, sizeof(*p));
	const char *why;
	int r;

	if (!p)
		out_of_memory();
	r = read_program(p, path);
	why = r ? regular_why(r) : unfit(p);
	if (!why)
		return p;
	log_error("--push %s: %s", path, why);
	log_hint("it takes the static program of a release, or of ./dev package");
	push_free(p);
	return NULL;
}

void push_free(struct push *p)
{
	if (!p)
		return;
	free(p->data);
	free(p->packed);
	free(p);
}

/* ---- for a host ------------------------------------------------------------ */

char *push_command(const struct push *p, const char *command)
{
	char name[64], *text;

	snprintf(name, sizeof(name), "strata-%08" PRIx32 "-%zu", pack_checksum(p->data, p->size), p->size);
	if (asprintf(&text, COMMAND, p->machine, name, command) < 0)
		out_of_memory();
	return text;
}

bool push_is_wanted(const char *line, size_t n)
{
	return n == strlen(WANTED) && !memcmp(line, WANTED, n);
}

static void pack(struct push *p)
{
	char *body = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&body, &n), *packed = memory ? pack_write(PACK_GZIP, memory) : NULL;
	struct str all = {};

	if (!packed)
		out_of_memory();
	fwrite(p->data, 1, p->size, packed);
	if (fclose(packed) | fclose(memory))
		out_of_memory();
	str_addf(&all, "%zu\n", n);
	str_addn(&all, body, n);
	free(body);
	p->packed = all.data;
	p->npacked = all.len;
}

const char *push_bytes(struct push *p, size_t *ret_n)
{
	if (!p->packed)
		pack(p);
	*ret_n = p->npacked;
	return p->packed;
}
