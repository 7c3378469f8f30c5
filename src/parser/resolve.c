// SPDX-License-Identifier: Apache-2.0
/* resolve.c - finds the meaning of each name (builtins, maps, variables of a block), and the places of
 * attach points. */
#include <ctype.h>
#include <string.h>

#include "ast.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/owner.h"
#include "base/str.h"
#include "builtin_names.h"
#include "model/attach_point.h"
#include "model/builtin.h"
#include "model/facts.h"
#include "model/provider.h"
#include "model/request.h"
#include "model/type.h"
#include "params.h"
#include "parser.h"
#include "type_name.h"
#include "types/types.h"

/* The variables that are known at this point of the script, newest first. */
struct scope {
	struct var *var;
	struct scope *outer;
	struct scope *older; /* next older one with the same hash */
};

enum { BUCKETS = 1024 };

struct resolve {
	struct script *script;
	struct arena *arena;
	struct diags *diags;
	const struct language *lang;
	const struct request *req;
	struct params params;
	struct probe *probe;
	struct scope *scope;
	struct scope *vars[BUCKETS]; /* the same variables, by hash of the name */
	struct map *maps[BUCKETS];   /* all maps, by hash of the name */
	struct map **maps_end;
	struct var **vars_end;
	unsigned macro_depth;
	unsigned comptime; /* number of enclosing ifs of which one branch is not compiled */
	bool ok;
};

enum { MACRO_DEPTH_MAX = 8 };

static void resolve_expr(struct resolve *r, struct expr *n);
static void resolve_stmt(struct resolve *r, struct stmt *n);

static void resolve_list(struct resolve *r, struct expr *n)
{
	for (; n; n = n->next)
		resolve_expr(r, n);
}

/* ---- attach points ---- */

static void unknown_provider(struct resolve *r, const struct attach_point *ap)
{
	const char *name = ap->words[0];

	if (!*name) {
		diag(r->diags, ap->word_spans[0], DIAG_PROBE_TYPE, "the probe type is missing");
		return;
	}
	if (ap->nwords > 1 && peer_has(PEER_PROBE, name)) {
		diag(r->diags, ap->word_spans[0], DIAG_PROBE_TYPE,
			"bpftrace has %s probes; strata does not yet", name);
		return;
	}
	if (ap->nwords == 1 && peer_has(PEER_WORD, name)) {
		diag(r->diags, ap->word_spans[0], DIAG_PROBE_TYPE,
			"bpftrace has `%s`; strata does not yet", name);
		return;
	}
	diag(r->diags, ap->word_spans[0], DIAG_PROBE_TYPE, "unknown probe type: %s", name);
	hint_provider(r->diags, r->arena, r->lang, name);
}

/* ---- expansion of attach points ---- */

static bool is_call_of(struct expr *n, void *name)
{
	return n->kind == EXPR_CALL && !strcmp(n->call.name, name);
}

/* Returns whether the probe may mention the builtin. Macros of the C part may mention any. */
static bool may_mention(const struct resolve *r, const char *name)
{
	return r->script->nc_parts ||
	       expr_any(r->probe->predicate, is_call_of, (void *)name) ||
	       stmt_any(r->probe->body, is_call_of, (void *)name);
}

static bool name_point(struct resolve *r, struct attach_point *ap)
{
	params_in_point(&r->params, ap);
	ap->provider = provider_by_name(r->lang->providers, ap->words[0],
		strlen(ap->words[0]));
	if (!ap->provider)
		unknown_provider(r, ap);
	return ap->provider;
}

static bool expand_point(struct resolve *r, struct attach_point *ap, enum missing_probes missing)
{
	struct request req = *r->req;

	req.settings.missing_probes = missing;
	ap->wants_args = req.wants_args = may_mention(r, "args");
	ap->wants_retval = req.wants_retval = may_mention(r, "retval");
	return ap->provider->expand(&req, ap);
}

/* Returns whether it is one of several attach points and has a wildcard. It may match nothing if another
 * one matches. */
static bool is_spare(const struct resolve *r, const struct probe *probe, const struct attach_point *ap)
{
	if (r->req->settings.missing_probes != MISSING_ERROR || !probe->points->next)
		return false;
	for (unsigned i = 1; i < ap->nwords; i++)
		if (strchr(ap->words[i], '*'))
			return true;
	return false;
}

/* Expands the probe's attach points. A spare one that matches nothing is expanded again, to report an error
 * if all of them match nothing, or else a warning. */
static bool expand_points(struct resolve *r, struct probe *probe)
{
	bool ok = true, found = false;

	for (struct attach_point *ap = probe->points; ap; ap = ap->next) {
		if (!name_point(r, ap) || !expand_point(r, ap, is_spare(r, probe, ap) ? MISSING_IGNORE :
				r->req->settings.missing_probes))
			ok = false;
		found |= ap->places != NULL;
	}
	for (struct attach_point *ap = probe->points; ap && ok; ap = ap->next)
		if (!ap->places && is_spare(r, probe, ap))
			ok = expand_point(r, ap, found ? MISSING_WARN : MISSING_ERROR);
	return ok;
}

static bool has_field(const struct field *list, const char *name)
{
	for (; list; list = list->next)
		if (!strcmp(list->name, name))
			return true;
	return false;
}

/* args.x may name a field of any of the places. field_type() handles different types. */
static void merge_fields(
	struct resolve *r, struct probe *probe, const struct place *place)
{
	for (const struct field *f = place->fields; f; f = f->next) {
		struct field *copy;

		if (has_field(probe->fields, f->name))
			continue;
		copy = arena_new_obj(r->arena, struct field);
		*copy = *f;
		copy->next = probe->fields;
		probe->fields = copy;
	}
}

static void resolve_points(struct resolve *r, struct probe *probe)
{
	const struct field *last = NULL;

	if (!expand_points(r, probe))
		r->ok = false;
	for (struct attach_point *ap = probe->points; ap; ap = ap->next) {
		if (ap->provider && !points_check_name(r->script, r->diags, ap))
			r->ok = false;
		if (ap->provider)
			points_leave_out(r->req, ap);
		ap->nplaces = 0;
		for (const struct place *p = ap->places; p; p = p->next) {
			ap->nplaces++;
			if (p->fields && p->fields != last)
				merge_fields(r, probe, p);
			last = p->fields;
		}
	}
}

/* ---- variables and maps ---- */

static unsigned bucket(const char *name)
{
	unsigned h = 0;

	for (; *name; name++)
		h = 31 * h + (unsigned char)*name;
	return h % BUCKETS;
}

/* n is a VAR. */
static struct var *var_find(struct resolve *r, const struct expr *n)
{
	for (struct scope *s = r->vars[bucket(n->var.name)]; s; s = s->older)
		if (s->var->use == n->var.use && !strcmp(s->var->name, n->var.name))
			return s->var;
	return NULL;
}

/* Forgets the variables that are newer than those of outer. */
static void scope_end(struct resolve *r, struct scope *outer)
{
	for (; r->scope != outer; r->scope = r->scope->outer)
		r->vars[bucket(r->scope->var->name)] = r->scope->older;
}

static struct var *var_new(struct resolve *r, struct expr *n)
{
	struct scope **newest = &r->vars[bucket(n->var.name)];
	struct var *v = arena_new_obj(r->arena, struct var);
	struct scope *s = arena_new_obj(r->arena, struct scope);

	v->name = n->var.name;
	v->use = n->var.use;
	v->first = n->span;
	v->probe = r->probe;
	v->index = r->probe->nvars++;
	*r->vars_end = v;
	r->vars_end = &v->next;
	s->var = v;
	s->outer = r->scope;
	s->older = *newest;
	r->scope = *newest = s;
	n->var.var = v;
	return v;
}

static void hint_var(struct resolve *r, const struct expr *written)
{
	const char **names;
	size_t n = 0;

	for (struct scope *s = r->scope; s; s = s->outer)
		n++;
	names = arena_new_array(r->arena, const char *, n + 1);
	n = 0;
	for (struct scope *s = r->scope; s; s = s->outer)
		if (s->var->use == written->var.use)
			names[n++] = s->var->name;
	hint_nearest(r->diags, "$", written->var.name, names, n);
}

/* Returns a variable of that name from a block that has ended, or NULL. */
static const struct var *var_elsewhere(struct resolve *r, const struct expr *n)
{
	for (struct var *v = r->probe->vars; v; v = v->next)
		if (v->use == n->var.use && !strcmp(v->name, n->var.name))
			return v;
	return NULL;
}

/* An unknown variable is reported once per block: it is then created with type_bad. */
static void resolve_var(struct resolve *r, struct expr *n)
{
	const struct var *elsewhere;

	n->var.var = var_find(r, n);
	if (n->var.var)
		return;
	r->ok = false;
	elsewhere = diags_full(r->diags) ? NULL : var_elsewhere(r, n);
	diag(r->diags, n->span, DIAG_VARIABLE,
		elsewhere ? "$%s is not known in this block"
			  : "$%s is used before anything is assigned to it",
		n->var.name);
	if (elsewhere)
		diag_note(r->diags, elsewhere->first,
			"it exists only in the block where it was set");
	else if (!diags_full(r->diags))
		hint_var(r, n);
	var_new(r, n)->type = type_bad;
}

/* The last declaration counts. */
static struct map_decl *map_decl_find(struct map_decl *decls, const char *name)
{
	struct map_decl *found = NULL;

	for (; decls; decls = decls->next)
		if (!strcmp(decls->name, name))
			found = decls;
	return found;
}

static void resolve_map(struct resolve *r, struct expr *n)
{
	struct map **first = &r->maps[bucket(n->map.name)], *m;

	resolve_list(r, n->map.keys);
	for (m = *first; m; m = m->same_hash) {
		if (!strcmp(m->name, n->map.name)) {
			n->map.map = m;
			return;
		}
	}
	m = arena_new_obj(r->arena, struct map);
	m->name = n->map.name;
	m->decl = map_decl_find(r->script->map_decls, m->name);
	m->same_hash = *first;
	*first = m;
	m->index = r->script->nmaps++;
	*r->maps_end = m;
	r->maps_end = &m->next;
	n->map.map = m;
}

/* ---- calls ---- */

static bool bare_name(const struct expr *n)
{
	return n->kind == EXPR_CALL && !n->call.parens;
}

/* As an argument of a stack builtin, `func` is a mode, not the builtin. */
static bool is_mode(const struct builtin *b, const char *word)
{
	enum frame_lang lang;
	enum stack_mode mode;

	return stack_lang_by_name(b->name, &lang) && stack_mode_by_name(word, &mode);
}

static void resolve_args(struct resolve *r, struct expr *call, const struct builtin *b)
{
	for (struct expr *arg = call->call.args; arg; arg = arg->next) {
		if (b && bare_name(arg) && builtin_takes_words(b) &&
			(!builtin_find(r->lang, arg->call.name) || is_mode(b, arg->call.name))) {
			const char *word = arg->call.name;

			arg->kind = EXPR_WORD;
			arg->word = word;
			continue;
		}
		resolve_expr(r, arg);
	}
}

/* Resolves an enumerator, or a constant that the C part defines. */
static bool resolve_constant(struct resolve *r, struct expr *n)
{
	struct constant c = {};

	if (n->call.parens || !r->req->types || !types_constant(r->req->types, n->call.name, &c))
		return false;
	if (c.type->kind == TYPE_STRING) {
		n->kind = EXPR_STRING;
		n->string.text = c.text;
		n->string.len = (uint32_t)strlen(c.text);
		return true;
	}
	if (c.origin == ORIGIN_KERNEL)
		facts_constant(r->req->facts, n->call.name, c.value);
	n->kind = EXPR_INT;
	n->integer.value = c.value;
	n->integer.is_unsigned = !c.type->is_signed && c.value > INT64_MAX;
	n->integer.type = c.type->integer.names ? c.type : NULL;
	n->integer.param = NULL;
	return true;
}

static bool move(struct expr *n, void *arg)
{
	n->span = *(struct span *)arg;
	return false;
}

/* A C macro's replacement is parsed as an expression of its own at each use. */
static bool resolve_macro(struct resolve *r, struct expr *n)
{
	const char *text = n->call.parens || !r->req->types ? NULL : types_macro(r->req->types, n->call.name);
	struct expr *next = n->next, *value;
	struct span at = n->span;

	if (!text || r->macro_depth == MACRO_DEPTH_MAX)
		return false;
	value = parse_expression(r->arena, text);
	if (!value) {
		r->ok = diag(r->diags, at, DIAG_NAME, "the macro %s is no expression: %s", n->call.name, text);
		return true;
	}
	value->next = NULL;
	expr_any(value, move, &at);
	*n = *value;
	n->next = next;
	r->macro_depth++;
	resolve_expr(r, n);
	r->macro_depth--;
	return true;
}

static void unknown_name(struct resolve *r, struct expr *n)
{
	struct expr var = {.kind = EXPR_VAR, .var = {.name = n->call.name}};
	const char *header = n->call.parens || !r->req->types ? NULL : types_missing_header(r->req->types);

	r->ok = diag(r->diags, n->span, DIAG_NAME, "unknown %s: %s",
		n->call.parens ? "function" : "variable or function", n->call.name);
	if (!n->call.parens && var_find(r, &var))
		diag_hint(r->diags, "did you mean $%s?", n->call.name);
	else if (header)
		diag_hint(r->diags, "the kernel's <%s> may define it: install the kernel's headers (the package "
			"linux-headers-$(uname -r) or kernel-devel), or write #define %s", header, n->call.name);
	else
		hint_builtin(r->diags, r->arena, r->lang, n->call.name);
}

/* Finds a function of an imported C program. Builtins take precedence. */
static const struct builtin *find_c_function(struct resolve *r, struct expr *n)
{
	const struct c_function *f = n->call.parens ? types_function(r->req->types, n->call.name) : NULL;

	n->call.data = (void *)f;
	return f ? r->lang->c_call : NULL;
}

static void resolve_call(struct resolve *r, struct expr *n)
{
	const struct builtin *b = builtin_find(r->lang, n->call.name);

	if (!b)
		b = find_c_function(r, n);
	if (!b && !peer_has(PEER_FUNCTION, n->call.name) && (resolve_constant(r, n) || resolve_macro(r, n)))
		return;
	n->call.builtin = b;
	if (!b && r->comptime)
		n->call.unknown = arena_printf(r->arena, "unknown %s: %s",
			n->call.parens ? "function" : "variable or function", n->call.name);
	else if (!b && peer_has(PEER_FUNCTION, n->call.name)) {
		r->ok = diag(r->diags, n->span, DIAG_NAME, "bpftrace has %s%s; strata does not yet",
			n->call.name, n->call.parens ? "()" : "");
	} else if (!b) {
		unknown_name(r, n);
	}
	resolve_args(r, n, b);
}

static const struct type *type_of_word(struct resolve *r, const char *name)
{
	static const enum type_tag tags[] = {TAG_NAME, TAG_STRUCT, TAG_UNION, TAG_ENUM};
	const struct type *t = NULL;

	for (unsigned i = 0; i < sizeof(tags) / sizeof(tags[0]) && !t; i++)
		t = types_find(r->req->types, tags[i], name);
	return t;
}

/* Handles sizeof(task_struct): a name without another meaning may be the name of a type. */
static void resolve_about(struct resolve *r, struct type_name **type, struct expr **value)
{
	struct expr *n = *value;
	struct constant c = {};
	const struct type *t;

	if (!n || !bare_name(n) || !r->req->types || builtin_find(r->lang, n->call.name) ||
		types_constant(r->req->types, n->call.name, &c) || types_macro(r->req->types, n->call.name))
		return;
	t = type_of_word(r, n->call.name);
	if (!t)
		return;
	*type = arena_new_obj(r->arena, struct type_name);
	(*type)->form = TYPE_FORM_KNOWN;
	(*type)->span = n->span;
	(*type)->text = n->call.name;
	(*type)->type = t;
	*value = NULL;
}

static void resolve_value_block(struct resolve *r, struct expr *n)
{
	struct scope *outer = r->scope;

	for (struct stmt *s = n->block.stmts; s; s = s->next)
		resolve_stmt(r, s);
	resolve_expr(r, n->block.value);
	scope_end(r, outer);
}

static void resolve_expr(struct resolve *r, struct expr *n)
{
	struct expr *operands[EXPR_OPERANDS_MAX];

	if (!n)
		return;
	if (n->kind == EXPR_SIZEOF)
		resolve_about(r, &n->size.type, &n->size.value);
	else if (n->kind == EXPR_OFFSETOF)
		resolve_about(r, &n->offset.type, &n->offset.value);
	if (n->kind == EXPR_PARAM)
		params_in_expr(&r->params, n);
	else if (n->kind == EXPR_VAR)
		resolve_var(r, n);
	else if (n->kind == EXPR_MAP)
		resolve_map(r, n);
	else if (n->kind == EXPR_CALL)
		resolve_call(r, n);
	else if (n->kind == EXPR_BLOCK)
		resolve_value_block(r, n);
	else
		for (unsigned i = 0, most = expr_operands(n, operands); i < most; i++)
			resolve_list(r, operands[i]);
}

/* ---- statements ---- */

static void resolve_assign(struct resolve *r, struct stmt *n)
{
	struct expr *left = n->assign.left;

	resolve_expr(r, n->assign.right);
	if (left->kind == EXPR_VAR && n->assign.op == OP_NONE && !var_find(r, left))
		var_new(r, left);
	else
		resolve_expr(r, left);
}

/* Declares a variable, which must not hide another one of the same name. */
static void declare_var(struct resolve *r, struct expr *name)
{
	struct var *v = var_find(r, name);

	if (!v) {
		var_new(r, name);
		return;
	}
	r->ok = diag(r->diags, name->span, DIAG_VARIABLE, "$%s is already in use here", v->name);
	diag_note(r->diags, v->first, "first used here");
	name->var.var = v;
}

static void resolve_let(struct resolve *r, struct stmt *n)
{

	resolve_expr(r, type_name_expr(n->let.to));
	resolve_expr(r, n->let.value);
	declare_var(r, n->let.var);
}

static void resolve_block(struct resolve *r, struct stmt *block)
{
	struct scope *outer = r->scope;

	for (struct stmt *n = block->stmts; n; n = n->next)
		resolve_stmt(r, n);
	scope_end(r, outer);
}

static void resolve_for(struct resolve *r, struct stmt *n)
{
	struct scope *outer = r->scope;

	resolve_expr(r, n->loop.from);
	resolve_expr(r, n->loop.to);
	declare_var(r, n->loop.var);
	resolve_block(r, n->loop.body);
	scope_end(r, outer);
}

static void resolve_cond(struct resolve *r, struct stmt *n)
{
	unsigned comptime = n->kind == STMT_IF && n->cond.test->kind == EXPR_COMPTIME;

	resolve_expr(r, n->cond.test);
	r->comptime += comptime;
	resolve_stmt(r, n->cond.then);
	if (n->cond.els)
		resolve_stmt(r, n->cond.els);
	r->comptime -= comptime;
}

static void resolve_stmt(struct resolve *r, struct stmt *n)
{
	switch (n->kind) {
	case STMT_ASSIGN:
		resolve_assign(r, n);
		break;
	case STMT_LET:
		resolve_let(r, n);
		break;
	case STMT_EXPR:
	case STMT_RETURN:
		resolve_expr(r, n->expr);
		break;
	case STMT_IF:
	case STMT_WHILE:
		resolve_cond(r, n);
		break;
	case STMT_BLOCK:
		resolve_block(r, n);
		break;
	case STMT_UNROLL:
		resolve_expr(r, n->loop.from);
		resolve_block(r, n->loop.body);
		break;
	case STMT_FOR_RANGE:
	case STMT_FOR_MAP:
	case STMT_FOR_STACK:
		resolve_for(r, n);
		break;
	case STMT_BREAK:
	case STMT_CONTINUE:
		break;
	}
}

/* ---- declared maps ---- */

enum { MAX_ENTRIES_MAX = 1 << 26 };

static void resolve_map_decl(struct resolve *r, struct map_decl *m)
{
	static const char *const kinds[] = {"hash", "lruhash", "percpuhash", "percpulruhash"};
	unsigned i = 0;

	while (i < ARRAY_SIZE(kinds) && strcmp(kinds[i], m->kind) != 0)
		i++;
	m->lru = i & 1;
	m->per_cpu = i & 2;
	if (i == ARRAY_SIZE(kinds)) {
		m->max_entries = 0;
		r->ok = diag(r->diags, m->kind_span, DIAG_MAP, "there is no such kind of map: %s", m->kind);
		diag_hint(r->diags, "a map is declared as hash, lruhash, percpuhash or percpulruhash");
	} else if (!m->max_entries || m->max_entries > MAX_ENTRIES_MAX) {
		r->ok = diag(r->diags, m->span, DIAG_MAP, "a map has 1 to %d elements", MAX_ENTRIES_MAX);
	} else if (map_decl_find(m->next, m->name)) {
		diag_warn(r->diags, m->span, DIAG_MAP, "@%s is declared again below, which counts", m->name);
	}
}

static bool is_used(const struct resolve *r, const struct map_decl *decl)
{
	const struct map *m = r->script->maps;

	while (m && strcmp(m->name, decl->name) != 0)
		m = m->next;
	return m;
}

/* ---- the script ---- */

static unsigned count_places(const struct probe *p)
{
	unsigned n = 0;

	for (const struct attach_point *ap = p->points; ap; ap = ap->next)
		n += ap->nplaces;
	return n;
}

bool resolve(struct script *s, const struct language *lang, const struct request *req)
{
	struct resolve r = {
		.script = s,
		.arena = s->arena,
		.diags = req->diags,
		.lang = lang,
		.req = req,
		.params = {s, req, s->arena, req->diags},
		.maps_end = &s->maps,
		.ok = true,
	};
	unsigned index = 0, places = 0;

	for (struct map_decl *m = s->map_decls; m; m = m->next)
		resolve_map_decl(&r, m);
	for (struct probe *p = s->probes; p; p = p->next) {
		p->index = index++;
		r.probe = p;
		r.vars_end = &p->vars;
		scope_end(&r, NULL);
		resolve_points(&r, p);
		places += count_places(p);
		if (places > req->settings.max_probes && r.ok)
			r.ok = diag(req->diags, p->span, DIAG_CONFIG,
				"this script has %u attach targets or more; max_probes is %llu", places,
				(unsigned long long)req->settings.max_probes);
		resolve_expr(&r, p->predicate);
		resolve_stmt(&r, p->body);
	}
	for (const struct map_decl *m = s->map_decls; m; m = m->next)
		if (!is_used(&r, m))
			diag_warn(req->diags, m->span, DIAG_UNUSED, "@%s is not used", m->name);
	return r.ok;
}

void names_dump(const struct script *s, FILE *out)
{
	for (const struct probe *p = s->probes; p; p = p->next) {
		fprintf(out, "probe %u\n", p->index);
		for (const struct attach_point *ap = p->points; ap; ap = ap->next)
			for (const struct place *place = ap->places; place;
				place = place->next) {
				fputs("  ", out);
				str_put_safe(place->name, out);
				putc('\n', out);
			}
		for (const struct var *v = p->vars; v; v = v->next)
			fprintf(out, "  $%s\n", v->name);
	}
	for (const struct map *m = s->maps; m; m = m->next)
		fprintf(out, "@%s\n", m->name);
}
