// SPDX-License-Identifier: Apache-2.0
/* php.c - PHP's versions, a row each, and the addresses in a file.
 *
 * A file is PHP's by its symbols, whatever its name: php, php-fpm, phpdbg, libphp. With GCC the interpreter
 * is one function, execute_ex(), that jumps from instruction to instruction (ZEND_VM_KIND_HYBRID, php-src
 * Zend/zend_vm_opcodes.h). It jumps to the code that opcache's JIT compiler makes, which runs in the same C
 * frame, so the unwind rule of most of execute_ex() is right for that code, too. */
#include "php.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/owner.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"

#define V(major, minor) ((major) << 8 | (minor))
#define VERSION_TEXT    "X-Powered-By: PHP/" /* php-src main/SAPI.h: SAPI_PHP_VERSION_HEADER */

/* offsetof(), in php-src's Zend/zend_globals.h (struct _zend_executor_globals:
 * current_execute_data) and Zend/zend_compile.h (struct _zend_op_array: opcodes, filename), at the
 * tag next to the row (php-7.4.33 to php-8.5.2), in builds without ZTS. */
static const struct php_row {
	unsigned version;
	struct php_layout at;
} rows[] = {
	{ V(7, 4), { 488, 64, 136 } },  /* php-7.4.33 */
	{ V(8, 0), { 488, 72, 144 } },  /* php-8.0.30, not tried */
	{ V(8, 1), { 488, 72, 144 } },  /* php-8.1.27, not tried */
	{ V(8, 2), { 488, 88, 152 } },  /* php-8.2.32 */
	{ V(8, 3), { 488, 80, 144 } },  /* php-8.3.8 */
	{ V(8, 4), { 488, 104, 168 } }, /* php-8.4.24 */
	{ V(8, 5), { 512, 104, 168 } }, /* php-8.5.2 */
};

const char *const php_loop[] = { "execute_ex", NULL };

/* ---- a file ---- */

/* Returns V(8, 2) for "8.2.32", or 0 if it is not a version. */
static unsigned parse_version(const char *text, const char *end)
{
	unsigned number[2] = {};

	for (int i = 0; i < 2; i++, text++) {
		for (; text < end && *text >= '0' && *text <= '9' && number[i] < 100; text++)
			number[i] = 10 * number[i] + (unsigned)(*text - '0');
		if (text == end || *text != '.')
			return 0;
	}
	return V(number[0], number[1]);
}

unsigned php_version(struct elf *e)
{
	struct elf_section rodata;
	struct elf_symbol loop;
	const char *text, *end;

	if (!elf_symbol_named(e, php_loop[0], &loop) || !elf_section(e, ".rodata", &rodata) || !rodata.data)
		return 0;
	end = (const char *)rodata.data + rodata.size;
	text = elf_find(e, &rodata, VERSION_TEXT, strlen(VERSION_TEXT));
	return text ? parse_version(text + strlen(VERSION_TEXT), end) : 0;
}

/* ---- the C frame of compiled code ---- */

#define KIND_HYBRID 4 /* ZEND_VM_KIND_HYBRID */

/* Returns whether zend_vm_kind() returns ZEND_VM_KIND_HYBRID, by its first instructions. */
static bool is_hybrid(struct elf *e)
{
	bool arm = elf_machine(e) == EM_AARCH64;
	const uint32_t mark = arm ? 0xd503245f : 0xfa1e0ff3; /* bti c, endbr64 */
	const uint8_t x86[] = { 0xb8, KIND_HYBRID, 0, 0, 0 }; /* mov $4, %eax */
	const uint32_t arm64 = 0x52800000 | KIND_HYBRID << 5; /* mov w0, #4 */
	struct elf_symbol sym;
	const uint8_t *code;

	code = elf_symbol_named(e, "zend_vm_kind", &sym) ? elf_at(e, sym.vaddr, 12) : NULL;
	if (!code)
		return false;
	if (!memcmp(code, &mark, sizeof(mark)))
		code += sizeof(mark);
	return !memcmp(code, arm ? (const void *)&arm64 : x86, arm ? sizeof(arm64) : sizeof(x86));
}

#define RULES_SEEN 64 /* different rules counted in a function */

struct coverage {
	uint64_t rule, bytes;
};

static void cover(struct coverage *seen, uint64_t rule, uint64_t bytes)
{
	size_t i = 0;

	while (i < RULES_SEEN - 1 && seen[i].rule && seen[i].rule != rule)
		i++;
	seen[i].rule = rule;
	seen[i].bytes += bytes;
}

/* Returns the rule of most of the code from start to end. */
static uint64_t usual_rule(const struct eh_rows *rows, uint64_t start, uint64_t end)
{
	struct coverage seen[RULES_SEEN] = {}, best = {};

	for (size_t i = 0; i + 1 < rows->len; i++) {
		uint64_t from = rows->data[i].vaddr, to = rows->data[i + 1].vaddr;

		from = from < start ? start : from;
		to = to > end ? end : to;
		if (from < to && rows->data[i].rule)
			cover(seen, rows->data[i].rule, to - from);
	}
	for (size_t i = 0; i < RULES_SEEN; i++)
		if (seen[i].bytes > best.bytes)
			best = seen[i];
	return best.rule;
}

static uint64_t jit_rule(struct elf *e)
{
	struct elf_symbol loop;
	struct eh_rows rows = {};
	uint64_t rule = 0;

	if (is_hybrid(e) && elf_symbol_named(e, php_loop[0], &loop) && !ehframe_read(e, &rows))
		rule = usual_rule(&rows, loop.vaddr, loop.vaddr + loop.size);
	eh_rows_done(&rows);
	return rule;
}

/* ---- the file ---- */

static const struct php_row *find_row(unsigned version)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].version == version)
			return &rows[i];
	return NULL;
}

int php_open(struct elf *e, struct php_proc *ret)
{
	unsigned version = php_version(e);
	const struct php_row *row = find_row(version);
	struct elf_symbol sym;

	*ret = (struct php_proc){};
	if (!version)
		return -ENOENT;
	ret->jit_rule = jit_rule(e);
	if (!row || !elf_symbol_named(e, "executor_globals", &sym))
		return 0;
	ret->at = row->at;
	ret->globals = sym.vaddr;
	if (elf_symbol_named(e, "zend_flf_functions", &sym))
		ret->frameless = sym.vaddr;
	return 0;
}
