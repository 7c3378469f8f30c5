// SPDX-License-Identifier: Apache-2.0
/* lua.c - versions of PUC's Lua, a row each, and the interpreter's loop in a file.
 *
 * A file has Lua if it has the text that names its authors, whatever its name and symbols. The loop, luaV_execute(),
 * is a static function: the one with the table of labels, an address for each opcode, or else the largest one that
 * lua_callk() leads to. */
#include "lua.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"

enum {
	LABELS_MIN = 80, /* opcodes: 83 in 5.4 */
	LOOP_MIN = 4096, /* bytes of luaV_execute(): 8,700 in 5.3 */
	DEPTH = 3,       /* calls from lua_callk() to luaV_execute(): 2 in 5.3 */
};

/* offsetof() in lua/lstate.h (CallInfo) and lua/lobject.h (Proto), and CIST_*, at the tag next to the row, such as
 * v5.4.7. */
static const struct lua_row {
	char minor;
	struct lua_layout at;
} rows[] = {
	{ '3', { 0x28, 0x42, 2, 8, 0x28, 0x38, 0x68, 0x1c, 0x48, 0, 0, 0 } },       /* v5.3.6 */
	{ '4', { 0x20, 0x3e, 0, 4, 0x2c, 0x40, 0x70, 0x1c, 0x58, 0x28, 0x60, 0 } }, /* v5.4.0 and v5.4.7 */
};

const uint8_t *lua_text(const struct elf *e, const char *text)
{
	struct elf_section s;

	return elf_section(e, ".rodata", &s) ? elf_find(e, &s, text, strlen(text)) : NULL;
}

/* Returns the minor version as a digit; 0: the file does not have Lua. lua_ident of lapi.c. */
static char find_minor(const struct elf *e)
{
	static const char ident[] = "$LuaVersion: Lua 5.";
	const uint8_t *p = lua_text(e, ident);

	return p ? (char)p[sizeof(ident) - 1] : 0;
}

/* ---- the loop ---- */

static const struct eh_range *range_of(const struct eh_ranges *ranges, uint64_t vaddr)
{
	size_t low = 0, high = ranges->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->data[middle].end <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->len && ranges->data[low].start <= vaddr ? &ranges->data[low] : NULL;
}

/* Replaces the words of a section that the dynamic linker sets, as for a file that is loaded at 0. */
static void relocate(const struct elf *e, const struct elf_section *of, uint64_t *words, size_t n)
{
	uint32_t relative = elf_machine(e) == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
	struct elf_section s;
	Elf64_Rela r;

	if (!elf_section(e, ".rela.dyn", &s) || !s.data)
		return;
	for (uint64_t i = 0; i + sizeof(r) <= s.size; i += sizeof(r)) {
		memcpy(&r, s.data + i, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == relative && (r.r_offset - of->vaddr) / 8 < n)
			words[(r.r_offset - of->vaddr) / 8] = (uint64_t)r.r_addend;
	}
}

/* Returns the function into which the longest run of words leads, of at least LABELS_MIN, or NULL. */
static const struct eh_range *labelled(const struct elf *e, const char *section, const struct eh_ranges *ranges)
{
	const struct eh_range *found = NULL, *r, *last = NULL;
	_cleanup_(freep) uint64_t *words = NULL;
	size_t n, run = 0, most = LABELS_MIN - 1;
	struct elf_section s;

	if (!elf_section(e, section, &s) || !s.data)
		return NULL;
	n = s.size / 8;
	words = malloc(n * 8 + 1);
	if (!words)
		return NULL;
	memcpy(words, s.data, n * 8);
	relocate(e, &s, words, n);
	for (size_t i = 0; i < n; i++) {
		r = words[i] ? range_of(ranges, words[i]) : NULL;
		r = r && words[i] != r->start ? r : NULL;
		run = r && r == last ? run + 1 : 1;
		last = r;
		if (r && run > most) {
			most = run;
			found = r;
		}
	}
	return found;
}

/* Sets *largest to the largest function that the one at vaddr calls or jumps to, at most depth calls away. */
static void search(struct elf *e, struct code *c, uint64_t vaddr, unsigned depth, const struct eh_ranges *ranges,
	const struct eh_range **largest)
{
	const struct eh_range *r = range_of(ranges, vaddr);
	const uint8_t *p = r ? elf_at(e, r->start, r->end - r->start) : NULL;
	struct code_insn i;

	if (!p || r->start != vaddr)
		return;
	if (!*largest || r->end - r->start > (*largest)->end - (*largest)->start)
		*largest = r;
	for (uint64_t at = 0; depth && at < r->end - r->start; at += i.size) {
		if (!code_decode(c, p + at, r->end - r->start - at, r->start + at, &i)) {
			i.size = (uint8_t)code_skip(c);
			continue;
		}
		if ((i.flow == CODE_CALL || i.flow == CODE_JUMP) && i.target - r->start >= r->end - r->start)
			search(e, c, i.target, depth - 1, ranges, largest);
	}
}

static const struct eh_range *largest_callee(struct elf *e, const struct eh_ranges *ranges)
{
	_cleanup_(code_closep) struct code *c = NULL;
	const struct eh_range *found = NULL;
	struct elf_symbol sym;

	if (!elf_symbol_named(e, "lua_callk", &sym) || code_open(elf_machine(e), false, &c))
		return NULL;
	search(e, c, sym.vaddr, DEPTH, ranges, &found);
	return found && found->end - found->start >= LOOP_MIN ? found : NULL;
}

static int find_loop(struct elf *e, struct eh_range *ret)
{
	const struct eh_range *found = NULL;
	struct eh_ranges ranges = {};
	int err = ehframe_ranges(e, &ranges);

	if (!err)
		found = labelled(e, ".data.rel.ro", &ranges);
	if (!err && !found)
		found = labelled(e, ".rodata", &ranges);
	if (!err && !found)
		found = largest_callee(e, &ranges);
	if (found)
		*ret = *found;
	eh_ranges_done(&ranges);
	return err;
}

int lua_open(struct elf *e, struct lua_proc *ret, struct eh_range *loop)
{
	char minor = find_minor(e);

	*ret = (struct lua_proc){};
	*loop = (struct eh_range){};
	if (!minor)
		return luajit_open(e, ret, loop);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].minor != minor)
			continue;
		ret->kind = LUA_PUC;
		ret->at = rows[i].at;
	}
	return find_loop(e, loop);
}
