// SPDX-License-Identifier: Apache-2.0
/* uprobe.c - uprobe and uretprobe: functions of programs and libraries. */
#include "uprobe.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/number.h"
#include "base/owner.h"
#include "base/str.h"
#include "probes.h"
#include "target/code.h"
#include "target/demangle.h"
#include "target/elf.h"
#include "target/pclntab.h"
#include "target/target.h"
#include "types/debuginfo.h"
#include "uprobe_args.h"

#ifdef __aarch64__
#define GO_REGISTERS "x0 to x15"
#else
#define GO_REGISTERS "rax, rbx, rcx, rdi, rsi, r8, r9, r10, r11"
#endif

/* ---- places ------------------------------------------------------------- */

static bool is_function(const struct elf_symbol *s)
{
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
}

/* The file that is searched for functions. */
struct program {
	const char *path;
	struct elf *elf;
	struct pclntab *go;      /* or NULL */
	struct debuginfo *debug; /* or NULL */
};

/* An attach point's request to its file. */
struct wanted {
	const char *what;    /* a function, an address, or a pattern */
	bool cpp;            /* match names in C++ */
	const char *file;    /* or this source file */
	unsigned line, column; /* this line (0: no line), at this column (0: any) */
	const char *written; /* the probe's name, from the @ on */
};

/* Names of a place in a file. */
struct called {
	const char *written; /* the probe's name after the file: ":main+4", "@a.c:7" */
	const char *symbol;  /* the function that contains it */
	bool inside;         /* not at the function's start */
};

/* A function's symbol for people; lists have names that can be written in a script. */
static const char *function_name(const struct request *req, const char *symbol)
{
	_cleanup_(freep) char *name = req->listing ? NULL : demangle(symbol);

	return uprobe_safe(req->arena, name ? name : symbol);
}

static struct place *add_place(const struct request *req, struct attach_point *ap,
	const char *path, const struct called *c, uint64_t offset)
{
	struct place *p = place_add(req, ap);

	p->path = uprobe_attach_path(req, path);
	p->func = function_name(req, c->symbol);
	p->offset = offset;
	p->name = arena_printf(req->arena, "%s:%s%s", ap->provider->name, uprobe_file_name(ap, path),
		uprobe_safe(req->arena, c->written));
	return p;
}

static struct called called_so(const struct request *req, const char *symbol)
{
	return (struct called){arena_printf(req->arena, ":%s", symbol), symbol, false};
}

/* Linux (seen up to 6.18, x86_64) mistakes the opcode of an AVX instruction for the plain instruction of the
 * same byte where it emulates instead of stepping: pushes, jumps, calls, nops. vpbroadcastb at the start of
 * glibc's strchrnul() becomes a jump, and the traced program computes nonsense. Such places are not probed. */
static bool kernel_would_break(const uint8_t *code)
{
	uint8_t op;

	if (code[0] == 0xc5) /* VEX */
		op = code[2];
	else if (code[0] == 0xc4)
		op = code[3];
	else if (code[0] == 0x62) /* EVEX */
		op = code[4];
	else
		return false;
	return (op & 0xf8) == 0x50 || (op & 0xf0) == 0x70 || op == 0x90 || op == 0xe8 ||
		op == 0xe9 || op == 0xeb;
}

static bool is_pattern(const struct attach_point *ap)
{
	return strchr(ap->words[ap->nwords - 1], '*');
}

static bool can_probe(struct elf *e, uint64_t vaddr)
{
	const uint8_t *code = elf_machine(e) == EM_X86_64 ? elf_at(e, vaddr, 5) : NULL;

	return !code || !kernel_would_break(code);
}

/* Go moves stacks, and is confused by a return address that the kernel has replaced there, so its return
 * instructions are probed instead. */
static void add_returns(const struct request *req, struct attach_point *ap,
	const struct program *p, const struct pcln_function *f, const struct called *c)
{
	_cleanup_(code_closep) struct code *code = NULL;
	const uint8_t *bytes = elf_at(p->elf, f->start, f->end - f->start);
	struct code_insn insn;
	unsigned before = ap->nplaces;
	uint64_t offset;

	if (!bytes || code_open(elf_machine(p->elf), false, &code)) {
		diag(req->diags, ap->word_spans[ap->nwords - 1], DIAG_NO_PLACE,
			"uretprobes on %s need libcapstone, which is not installed", c->symbol);
		return;
	}
	for (uint64_t at = f->start; at < f->end; at += insn.size) {
		struct place *place;

		if (!code_decode(code, bytes + (at - f->start), f->end - at, at, &insn)) {
			insn.size = code_skip(code);
			continue;
		}
		if (insn.flow != CODE_RETURN || !uprobe_offset(p->elf, at, &offset))
			continue;
		place = add_place(req, ap, p->path, c, offset);
		place->abi = ABI_GO;
		place->at_return = true;
	}
	if (ap->nplaces == before && !is_pattern(ap))
		diag(req->diags, ap->word_spans[ap->nwords - 1], DIAG_NO_PLACE,
			"%s has no return instruction: it never returns", c->symbol);
}

/* The compiler's functions have their arguments in registers. The assembler's have them on the stack, unless
 * the symbol's name differs: *.abi0. A function called by C has no package in its name. */
static enum place_abi abi_of(const struct program *p, const struct pcln_function *f)
{
	const struct elf_symbol *s;
	const char *suffix;
	size_t n;

	if (!(f->flags & PCLN_ASM))
		return ABI_GO;
	if (!strchr(f->name, '.'))
		return ABI_C;
	n = elf_symbols(p->elf, &s);
	for (size_t i = 0; i < n; i++) {
		if (s[i].vaddr != f->start || !is_function(&s[i]))
			continue;
		suffix = strrchr(s[i].name, '.');
		return suffix && !strcmp(suffix, ".abi0") ? ABI_GO_STACK : ABI_GO;
	}
	return ABI_GO_EITHER;
}

static void add_at(const struct request *req, struct attach_point *ap,
	const struct program *p, const struct called *c, uint64_t vaddr)
{
	struct pcln_function f;
	struct place *place;
	uint64_t offset;
	bool go = p->go && pclntab_find(p->go, vaddr, &f);

	if (!uprobe_offset(p->elf, vaddr, &offset))
		return;
	if (go && ap->provider->has_retval) {
		add_returns(req, ap, p, &f, c);
		return;
	}
	place = add_place(req, ap, p->path, c, offset);
	place->abi = go ? abi_of(p, &f) : elf_machine(p->elf) == EM_386 ? ABI_C32 : ABI_C;
	place->skip = c->inside ? 0 : (uint8_t)uprobe_skip(p->elf, vaddr);
	if (p->debug)
		uprobe_types(req, ap, p->debug, place, c->inside ? NULL : c->symbol, vaddr);
}

/* memcpy() and memmove() may have one implementation: like other names of one address, a pattern finds it once. */
static bool has_place(const struct attach_point *ap, const struct program *p, uint64_t vaddr)
{
	uint64_t offset;

	if (!is_pattern(ap) || !uprobe_offset(p->elf, vaddr, &offset))
		return false;
	for (const struct place *q = ap->places; q; q = q->next)
		if (q->offset == offset && !strcmp(q->path, p->path))
			return true;
	return false;
}

/* Adds all implementations of an IFUNC: a process calls the one that its resolver chose. */
static void add_implementations(const struct request *req, struct attach_point *ap, const struct program *p,
	const struct called *c, const struct elf_symbol *s)
{
	const uint64_t *found;
	size_t n = uprobe_implementations(req->arena, p->elf, s, &found), skipped = 0;

	for (size_t i = 0; i < n; i++) {
		if (!can_probe(p->elf, found[i]))
			skipped++;
		else if (!has_place(ap, p, found[i]))
			add_at(req, ap, p, c, found[i]);
	}
	if (skipped && skipped < n)
		log_warn("%zu of the %zu implementations of %s cannot be probed: the kernel would run their first "
			"instruction wrongly", skipped, n, s->name);
	if (skipped < n)
		return;
	if (is_pattern(ap)) {
		log_info("passed over %s: where its implementations are is not known", s->name);
		return;
	}
	diag(req->diags, ap->word_spans[ap->nwords - 1], DIAG_NO_PLACE, "%s cannot be probed: %s", s->name, n ?
		"the kernel would run the first instruction of its implementations wrongly" :
		"it is an IFUNC, and where its implementations are is not known");
	if (!n)
		diag_hint(req->diags, "its code is chosen when a program starts, perhaps from another file (the vDSO)");
}

static void add_symbol(const struct request *req, struct attach_point *ap, const struct program *p,
	const struct called *c, const struct elf_symbol *s)
{
	if (s->type == STT_GNU_IFUNC && !req->listing)
		add_implementations(req, ap, p, c, s);
	else
		add_at(req, ap, p, c, s->vaddr);
}

/* Adds Go's functions in files without symbols. */
static void add_matching_go(const struct request *req, struct attach_point *ap,
	const struct program *p, const char *pattern)
{
	struct pcln_function f;

	for (size_t i = 0; i < pclntab_functions(p->go); i++)
		if (pclntab_function(p->go, i, &f) && glob_match(pattern, f.name)) {
			struct called c = called_so(req, f.name);

			add_at(req, ap, p, &c, f.start);
		}
}

static bool is_probed_well(const struct program *p, const struct elf_symbol *s)
{
	if (can_probe(p->elf, s->vaddr))
		return true;
	log_info("passed over %s: the kernel would run its first instruction wrongly", s->name);
	return false;
}

/* An address with several names is one place, which has the first of them; lists have all. */
static void add_matching(const struct request *req, struct attach_point *ap,
	const struct program *p, const char *pattern)
{
	const struct elf_symbol *s;
	size_t n = elf_symbols(p->elf, &s);
	uint64_t last = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		struct called c;

		if (!is_function(&s[i]) || (s[i].vaddr == last && !req->listing) || !glob_match(pattern, s[i].name))
			continue;
		last = s[i].vaddr;
		if (!is_probed_well(p, &s[i]))
			continue;
		c = called_so(req, s[i].name);
		add_symbol(req, ap, p, &c, &s[i]);
	}
	if (!n && p->go)
		add_matching_go(req, ap, p, pattern);
}

/* ---- C++ ---------------------------------------------------------------- */

static void add_cpp(const struct request *req, struct attach_point *ap, const struct program *p,
	const char *pattern)
{
	const struct elf_symbol *s;
	size_t n = elf_symbols(p->elf, &s);
	uint64_t last = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *name = is_function(&s[i]) ? demangle(s[i].name) : NULL;
		struct called c = {.symbol = s[i].name};

		if (!is_function(&s[i]) || s[i].vaddr == last || !uprobe_is_cpp(req->arena, pattern, s[i].name, name))
			continue;
		last = s[i].vaddr;
		if (!is_probed_well(p, &s[i]))
			continue;
		c.written = name ? arena_printf(req->arena, ":cpp:\"%s\"", name) :
				   arena_printf(req->arena, ":cpp:%s", s[i].name);
		add_symbol(req, ap, p, &c, &s[i]);
	}
}

/* ---- addresses and names ------------------------------------------------ */

static bool may_probe(const struct request *req, const struct attach_point *ap, const struct program *p,
	const char *text, uint64_t vaddr)
{
	if (can_probe(p->elf, vaddr))
		return true;
	diag(req->diags, ap->word_spans[ap->nwords - 1], DIAG_NO_PLACE,
		"%s cannot be probed: the kernel would run the instruction there wrongly", text);
	return false;
}

/* A breakpoint within an instruction makes the program compute nonsense. */
static bool begins_instruction(const struct request *req, const struct attach_point *ap,
	const struct program *p, const char *text, uint64_t vaddr)
{
	struct span span = ap->word_spans[ap->nwords - 1];
	uint64_t start;

	if (req->cmd.unsafe || req->listing)
		return true;
	if (!uprobe_instruction(p->elf, p->go, vaddr, &start)) {
		diag(req->diags, span, DIAG_UNSAFE, "it is not known whether an instruction begins at %s", text);
		diag_hint(req->diags, "--unsafe allows it: if none does, the program will not work as before");
		return false;
	}
	if (start == vaddr)
		return true;
	diag(req->diags, span, DIAG_NO_PLACE, "no instruction begins at %s", text);
	diag_hint(req->diags, "one begins %llu byte%s before", (unsigned long long)(vaddr - start),
		vaddr - start == 1 ? "" : "s");
	return false;
}

/* Adds a place within a function, whose symbol may be known already. */
static void add_inside(const struct request *req, struct attach_point *ap, const struct program *p,
	struct called c, uint64_t vaddr)
{
	const struct elf_symbol *s = c.symbol ? NULL : elf_symbol_at(p->elf, vaddr);

	c.symbol = c.symbol ? c.symbol : s ? s->name : c.written + 1;
	c.inside = !s || s->vaddr != vaddr;
	if (may_probe(req, ap, p, c.written + 1, vaddr))
		add_at(req, ap, p, &c, vaddr);
}

static bool find_go(const struct pclntab *go, const char *name, struct elf_symbol *ret)
{
	struct pcln_function f;

	for (size_t i = 0; go && i < pclntab_functions(go); i++)
		if (pclntab_function(go, i, &f) && !strcmp(f.name, name)) {
			*ret = (struct elf_symbol){.name = f.name, .vaddr = f.start,
				.size = f.end - f.start, .type = STT_FUNC};
			return true;
		}
	return false;
}

/* The file's own tables are fast to search; the debug file's must be read completely. */
static bool find_function(const struct program *p, const char *name, struct elf_symbol *ret)
{
	const struct elf_symbol *s;
	size_t n;

	if (elf_symbol_named(p->elf, name, ret) && is_function(ret))
		return true;
	n = elf_symbols(p->elf, &s);
	for (size_t i = 0; i < n; i++)
		if (is_function(&s[i]) && !strcmp(s[i].name, name)) {
			*ret = s[i];
			return true;
		}
	return find_go(p->go, name, ret);
}

static void beyond(const struct request *req, const struct attach_point *ap,
	const struct elf_symbol *s, uint64_t offset)
{
	diag(req->diags, ap->word_spans[ap->nwords - 1], DIAG_NO_PLACE,
		"+%llu is outside of the function %s", (unsigned long long)offset, s->name);
	log_info("%s is %llu bytes long", s->name, (unsigned long long)s->size);
}

/* The text is NAME, NAME+OFFSET, an address, or a pattern. */
static void add_function(const struct request *req, struct attach_point *ap,
	const struct program *p, const char *what)
{
	const char *plus = strrchr(what, '+');
	struct called c = called_so(req, what);
	struct elf_symbol s;
	uint64_t add = 0;

	if (strchr(what, '*')) {
		add_matching(req, ap, p, what);
	} else if (number_is(what, &add)) {
		c.symbol = NULL;
		if (!uprobe_offset(p->elf, add, &s.vaddr))
			missing_place(req, ap->word_spans[ap->nwords - 1], "%s is no address of %s's code", what,
				p->path);
		else if (begins_instruction(req, ap, p, what, add))
			add_inside(req, ap, p, c, add);
	} else if (find_function(p, what, &s)) {
		if (may_probe(req, ap, p, what, s.vaddr))
			add_symbol(req, ap, p, &c, &s);
	} else if (plus && number_is(plus + 1, &add) &&
		find_function(p, arena_strndup(req->arena, what, plus - what), &s)) {
		c.symbol = arena_strdup(req->arena, s.name);
		if (ap->provider->has_retval)
			form_error(req, ap, "a return probe takes no offset");
		else if (add >= (s.size ? s.size : 1))
			beyond(req, ap, &s, add);
		else if (begins_instruction(req, ap, p, what, s.vaddr + add))
			add_inside(req, ap, p, c, s.vaddr + add);
	}
}

/* ---- lines of source files ---------------------------------------------- */

static bool no_line(const struct request *req, const struct attach_point *ap, const struct wanted *w,
	const struct source_line *l)
{
	struct span at = ap->word_spans[l->file_known ? 2 : 1];

	if (!(l->line_known ? missing_place(req, ap->word_spans[3], "%s:%u has no code at column %u", w->file, w->line,
				      w->column) :
		    l->file_known ? missing_place(req, at, "%s:%u has no code", w->file, w->line) :
				    missing_place(req, at, "the debug information of %s has no source file %s",
					    ap->words[1], w->file)))
		return true;
	if (!l->line_known && l->next_line)
		diag_hint(req->diags, "the next line with code is %u", l->next_line);
	return missing_allowed(req);
}

/* Adds the start of the line's code in each function: the line may be inlined into several, and its code in pieces. */
static bool add_line(const struct request *req, struct attach_point *ap, const struct program *p,
	const struct wanted *w)
{
	const struct elf_symbol *before = NULL;
	struct source_line l;
	const char *why, *hint;
	struct debuginfo *d = req->types ? types_debuginfo(req->types, p->path, &why, &hint) : NULL;
	unsigned places = ap->nplaces;

	if (!d) {
		diag(req->diags, ap->word_spans[1], DIAG_NO_PLACE, "%s: %s: its lines are not known", p->path,
			req->types ? why : "it is not read here");
		return false;
	}
	debuginfo_line(d, w->file, w->line, w->column, &l);
	for (size_t i = 0; i < l.n; i++) {
		const struct elf_symbol *s = elf_symbol_at(p->elf, l.addresses[i]);

		if (s && s == before)
			continue;
		before = s;
		add_inside(req, ap, p, (struct called){.written = w->written}, l.addresses[i]);
	}
	return ap->nplaces > places || diags_failed(req->diags) || no_line(req, ap, w, &l);
}

static void suggest_function(const struct request *req, const char *path,
	const char *written)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	const struct elf_symbol *s;
	const char **names, *near;
	size_t n, k = 0;

	if (elf_open(path, &e))
		return;
	n = elf_symbols(e, &s);
	names = arena_new_array(req->arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		if (is_function(&s[i]))
			names[k++] = s[i].name;
	near = nearest(written, names, k);
	if (!k)
		diag_hint(req->diags, "%s has no symbols: it is stripped, and no debug file of "
			"its build id is in /usr/lib/debug", path);
	else if (near)
		diag_hint(req->diags, "did you mean %s?", uprobe_safe(req->arena, near));
	else
		diag_hint(req->diags, "strata -l 'uprobe:%s:*' lists its functions", path);
}

static bool no_function(const struct request *req, const struct attach_point *ap,
	const char *path, const char *what)
{
	if (missing_place(req, ap->word_spans[ap->nwords - 1], "%s has no function %s", path,
		what))
		suggest_function(req, path, what);
	return missing_allowed(req);
}

/* Hints at the library of a launcher with few functions, such as pyenv's python3. */
static void hint_launcher(const struct request *req, const struct attach_point *ap,
	const char *path, struct elf *e)
{
	const char *const *needed = elf_needed(e);

	if (ap->nplaces > 16)
		return;
	for (; needed && *needed; needed++)
		if (!strncmp(*needed, "libpython", 9)) {
			const char *so = strstr(*needed, ".so");

			log_hint("%s is a small launcher: its Python is in %s; "
				"write %s:%.*s:...", path, *needed, ap->provider->name,
				so ? (int)(so - *needed) : 64, *needed);
			return;
		}
}

/* Reports once how the program's functions get their arguments, for each way. */
static void tell_go(const struct attach_point *ap)
{
	static const char *const where[] = {
		[ABI_GO] = GO_REGISTERS " (a string is two of them, a slice three), retval the first of them",
		[ABI_GO_STACK] = "words on the stack: they are assembler's",
	};
	static unsigned warned; /* bits of place_abi */

	for (const struct place *p = ap->places; p; p = p->next) {
		if (p->abi >= ARRAY_SIZE(where) || !where[p->abi] || warned & 1u << p->abi)
			continue;
		warned |= 1u << p->abi;
		log_info("%s and others are Go's: their arg0, arg1.. are %s", p->func, where[p->abi]);
	}
}

static bool add_wanted(const struct request *req, struct attach_point *ap, const struct program *p,
	const struct wanted *w)
{
	if (w->line)
		return add_line(req, ap, p, w);
	if (w->cpp)
		add_cpp(req, ap, p, w->what);
	else
		add_function(req, ap, p, w->what);
	return true;
}

static bool expand_in(const struct request *req, struct attach_point *ap, const char *path, struct elf *e,
	const struct wanted *w)
{
	_cleanup_(pclntab_closep) struct pclntab *go = NULL;
	struct debuginfo *debug = NULL;
	bool failed = diags_failed(req->diags);

	pclntab_open(e, &go);
	if (req->types)
		types_add_program(req->types, path);
	if (uprobe_wants_types(req, ap))
		debug = uprobe_debuginfo(req, ap, path);
	if (!add_wanted(req, ap, &(struct program){path, e, go, debug}, w) ||
		(!failed && diags_failed(req->diags))) { /* one error per place is enough */
		ap->places = NULL;
		ap->nplaces = 0;
		return false;
	}
	if (go)
		tell_go(ap);
	if (strchr(w->what, '*'))
		hint_launcher(req, ap, path, e);
	return true;
}

static bool expand_file(const struct request *req, struct attach_point *ap, const char *path,
	const struct wanted *w)
{
	struct elf *e;
	bool ok;

	if (!uprobe_open(req, ap, path, &e))
		return false;
	ok = expand_in(req, ap, path, e, w);
	uprobe_close(req, e);
	return ok;
}

/* ---- forms -------------------------------------------------------------- */

/* For -l uprobe:libc: lists all its functions. */
static bool is_file_alone(const struct request *req, const struct attach_point *ap)
{
	const char *name = ap->words[1];

	return req->listing && ap->nwords == 2 &&
	       (strchr(name, '/') || (!strchr(name, '*') && *target_find_binary(req->target, name, NULL)));
}

static bool is_number(const char *text, unsigned *ret)
{
	char *end;
	unsigned long n = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;

	*ret = n && n <= INT32_MAX && !*end ? (unsigned)n : 0;
	return *ret;
}

/* Reads PATH@FILE:LINE[:COLUMN]; a file whose own name has an @ has priority. */
static bool is_line(const struct request *req, struct attach_point *ap, struct wanted *w, bool *ret_ok)
{
	const char *at = ap->nwords > 1 ? strrchr(ap->words[1], '@') : NULL;

	if (!at || target_is_elf(req->target, ap->words[1]))
		return false;
	if (!at[1] || ap->nwords < 3 || ap->nwords > 4 || !is_number(ap->words[2], &w->line) ||
		(ap->nwords == 4 && !is_number(ap->words[3], &w->column))) {
		*ret_ok = form_error(req, ap, "a line of a source file is PATH@FILE:LINE or PATH@FILE:LINE:COLUMN");
		return true;
	}
	if (ap->provider->has_retval) {
		*ret_ok = form_error(req, ap, "a return probe takes no line");
		return true;
	}
	w->file = at + 1;
	w->what = ap->words[2];
	w->written = arena_printf(req->arena, w->column ? "@%s:%u:%u" : "@%s:%u", w->file, w->line, w->column);
	ap->words[1] = arena_strndup(req->arena, ap->words[1], at - ap->words[1]);
	return true;
}

/* Unquoted, ns::f is three words. */
static const char *joined(const struct request *req, const struct attach_point *ap, unsigned from)
{
	const char *text = ap->words[from];

	for (unsigned i = from + 1; i < ap->nwords; i++)
		text = arena_printf(req->arena, "%s:%s", text, ap->words[i]);
	return text;
}

/* FUNCTION without a file is one of the traced program. */
static void add_program_word(const struct request *req, struct attach_point *ap)
{
	const char **words = arena_new_array(req->arena, const char *, 3);
	struct span *spans = arena_new_array(req->arena, struct span, 3);

	words[0] = ap->words[0];
	words[1] = req->listing ? "*" : "";
	words[2] = ap->words[1];
	spans[0] = ap->word_spans[0];
	spans[1] = spans[2] = ap->word_spans[1];
	ap->words = words;
	ap->word_spans = spans;
	ap->nwords = 3;
}

static bool read_form(const struct request *req, struct attach_point *ap, struct wanted *w)
{
	bool ok = true;

	if (is_line(req, ap, w, &ok))
		return ok;
	if (ap->nwords == 2 && is_file_alone(req, ap)) {
		w->what = "*";
		return true;
	}
	if (ap->nwords == 2 && req->cmd.pid)
		add_program_word(req, ap);
	w->cpp = ap->nwords > 3 && !strcmp(ap->words[2], "cpp");
	if (ap->nwords != 3 && !w->cpp)
		return form_error(req, ap, "a uprobe needs a file and a function");
	w->what = joined(req, ap, w->cpp ? 3 : 2);
	if (!*w->what)
		return form_error(req, ap, "the function is missing");
	return true;
}

static bool uprobe_expand(const struct request *req, struct attach_point *ap)
{
	struct request quiet = *req;
	const char *const *files, *const *f;
	struct wanted w = {};

	if (!read_form(req, ap, &w))
		return false;
	files = uprobe_files(req, ap, false);
	if (!files)
		return false;
	if (!*files)
		return req->listing || uprobe_no_file(req, ap);
	if (!strcmp(ap->words[1], "*")) /* some processes may have ended */
		quiet.diags = diags_new(req->arena, NULL);
	for (f = files; *f; f++)
		if (!expand_file(&quiet, ap, arena_strdup(req->arena, *f), &w) && quiet.diags == req->diags &&
			!req->listing)
			return false;
	return ap->places || req->listing || diags_failed(req->diags) || w.line || no_function(req, ap, *files, w.what);
}

static int uprobe_attach(struct loaded_probe *p)
{
	return uprobe_attach_all(p, false);
}

static int uretprobe_attach(struct loaded_probe *p)
{
	return uprobe_attach_all(p, true);
}

const struct provider provider_uprobe = {
	.name = "uprobe",
	.short_name = "u",
	.form = "uprobe:PATH:FUNCTION, :FUNCTION+OFFSET, :ADDRESS or :cpp:\"NAME\", PATH@FILE:LINE",
	.help = "entry of a function in a program or library",
	.ctx = CTX_PT_REGS,
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.multi_type = TRACE_UPROBE_MULTI,
	.multi_feature = FEATURE_UPROBE_MULTI,
	.section = "uprobe",
	.newest_first = true,
	.may_sleep = true,
	.has_args = true,
	.has_fields = true,
	.file = true,
	.expand = uprobe_expand,
	.attach = uprobe_attach,
};

const struct provider provider_uretprobe = {
	.name = "uretprobe",
	.short_name = "ur",
	.form = "uretprobe:PATH:FUNCTION",
	.help = "return of a function in a program or library",
	.ctx = CTX_PT_REGS,
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.multi_type = TRACE_UPROBE_MULTI,
	.multi_feature = FEATURE_UPROBE_MULTI,
	.section = "uretprobe",
	.newest_first = true,
	.may_sleep = true,
	.has_retval = true,
	.file = true,
	.expand = uprobe_expand,
	.attach = uretprobe_attach,
};
