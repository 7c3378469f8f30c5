// SPDX-License-Identifier: Apache-2.0
/* push.c - see push.h. The host's shell asks for the program by a line. The answer is a line with the number of bytes
 * that follow, and the gzipped program. ssh protects it on the way; gzip verifies its CRC-32 and its length, so a
 * program that arrived in part is not run. The shell deletes the file while it is still empty, and fills and runs it
 * by two descriptors: however the shell or the connection ends, the host has no file to clean up. */
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
#include "base/shell_word.h"
#include "output/pack.h"

#define WANTED "strata: the program is wanted"

struct push {
	unsigned char *data;
	size_t size;
	const char *version; /* of the near strata */
	const char *machine; /* as uname -m prints it */
	char *packed;        /* NULL: not yet */
	size_t npacked;
};

/* Words after a host's strata, which is the installed one if it has this version. The program keeps no files:
 * without a directory for them it has no caches, which would be those of another strata. /proc/self/fd/9 is the
 * program. %1$s: machine, %2$zu: KiB of the program, %3$s: version, %4$s: the command. */
static const char COMMAND[] =
	"fail() { echo \"$*\" >&2; exit 1; }\n"
	"place() {\n"
	"	d=$(mktemp -d \"$1/strata.XXXXXXXXXX\" 2>/dev/null) || {\n"
	"		why=\"$why, $1 cannot be written to\"; return 1\n"
	"	}\n"
	"	p=$d/strata\n"
	"	set -- \"$1\" $(df -Pk \"$d\" | tail -n 1)\n"
	"	if [ \"$5\" -lt %2$zu ] 2>/dev/null; then\n"
	"		why=\"$why, $1 has only $(($5 / 1024)) MB\"\n"
	"	elif ! { echo \"#!/bin/sh\" >\"$p\" && chmod 700 \"$p\"; } 2>/dev/null; then\n"
	"		why=\"$why, $1 cannot be written to\"\n"
	"	elif ! \"$p\" 2>/dev/null; then\n"
	"		why=\"$why, $1 lets no program run (noexec)\"\n"
	"	else\n"
	"		return 0\n"
	"	fi\n"
	"	rm -rf \"$d\"; d=; return 1\n"
	"}\n"
	"bring() {\n"
	"	m=$(uname -m) d= why=\n"
	"	[ \"$m\" = %1$s ] || fail \"--push has a program for %1$s, and this is $m\"\n"
	"	set -f; umask 077\n"
	"	trap \"exit 1\" HUP INT PIPE TERM; trap \"rm -rf \\\"\\$d\\\"\" EXIT\n"
	"	set -- ${TMPDIR:+\"$TMPDIR\"} /tmp /var/tmp /dev/shm \"${XDG_RUNTIME_DIR:-/run}\" \"${HOME:-/}\"\n"
	"	for t; do\n"
	"		place \"$t\" && break\n"
	"	done\n"
	"	[ -n \"$d\" ] || fail \"no directory can take the program of $((%2$zu / 1024)) MB: ${why#, }\"\n"
	"	exec 8>\"$p\" 9<\"$p\"\n"
	"	rm -rf \"$d\"\n"
	"	echo \"" WANTED "\" && read -r n || fail \"the connection was cut before the program came\"\n"
	"	why=$(head -c \"$n\" | gzip -dc 2>&1 >&8) ||\n"
	"		fail \"cannot unpack the program in $t: $(echo $why)\"\n"
	"	exec 8>&-\n"
	"	trap - EXIT HUP INT PIPE TERM\n"
	"	export STRATA_CACHE_DIR=/dev/null STRATA_NO_IMAGES=1\n"
	"	p=/proc/self/fd/9\n"
	"}\n"
	"p=strata\n"
	"strata() { exec \"$p\" \"$@\"; }\n"
	"[ \"$(command strata --version </dev/null 2>/dev/null)\" = \"strata %3$s\" ] || bring\n"
	"%4$s";

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
		return "the file is not a program";
	memcpy(&h, p->data, sizeof(h));
	p->machine = machine_of(&h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 || !p->machine)
		return "the file is not a program for x86_64 or aarch64";
	return is_dynamic(p, &h) ? "the program needs libraries, which the hosts may not have" : NULL;
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

struct push *push_open(const char *path, const char *version)
{
	struct push *p = calloc(1, sizeof(*p));
	bool self = !strcmp(path, PUSH_SELF);
	const char *why;
	int r;

	if (!p)
		out_of_memory();
	p->version = version;
	r = read_program(p, path);
	why = r ? regular_why(r) : unfit(p);
	if (!why)
		return p;
	log_error("--push%s%s: %s", self ? "" : "=", self ? "" : path, why);
	log_hint("%sit takes the static program of a release, or of ./dev package", self ?
		"this strata is not a static program. Use --push=PROGRAM; " : "");
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
	_cleanup_(freep) char *text = NULL;
	struct str words = {};

	if (asprintf(&text, COMMAND, p->machine, p->size / 1024 + 1, p->version, command) < 0)
		out_of_memory();
	str_add(&words, "exec sh -c"); /* the login's shell may be another one */
	shell_word(text, &words);
	return words.data;
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
