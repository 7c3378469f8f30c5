// SPDX-License-Identifier: Apache-2.0
/* wasm.c - functions of WebAssembly that V8 has compiled, by the addresses of their code.
 *
 *     instance        -> .. -> Script of the module -> Foreign -> .. -> NativeModule
 *     NativeModule    bytes of the module; its code: a std::map by address, and a vector of newer code
 *     WasmCode        NativeModule | address of the instructions | .. size .. index of the function
 *
 * The frame of such code has the instance: WasmInstanceObject until V8 11, then WasmTrustedInstanceData. The
 * fields on the way to the Script differ by version, so it is looked for: a Script has a type of its own. Members
 * of NativeModule, which is C++, are looked for as well: the bytes begin with the mark of a module, and each
 * WasmCode begins with the address of its NativeModule. (src/wasm/wasm-objects.tq, wasm-code-manager.h,
 * src/objects/managed.h of V8 11.3.244 to 14.6.202; std::map as in libstdc++.) Seen in node 20 to 26.
 *
 * The name section: https://webassembly.github.io/spec/core/appendix/custom.html */
#include "wasm.h"

#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "unwinders/idmap.h"
#include "v8.h"
#include "vlq.h"

enum {
	ROOT_WORDS = 64,       /* of an instance */
	OBJECT_WORDS = 8,      /* of the objects that it refers to */
	OBJECTS_MAX = 1024,
	NATIVE_WORDS = 96,     /* of a NativeModule */
	NATIVE_FIRST = 16,     /* the first word that may be a member that is looked for */
	FOREIGN_SHARED = 24,   /* in what a Foreign refers to: a std::shared_ptr<NativeModule> * */
	MODULES_MAX = 256,
	SCRIPTS_MAX = 16,      /* that are looked at for one instance */
	HEADERS_MAX = 4,       /* places of a NativeModule that look like those of its code */
	SECTIONS_MAX = 4096,
	CODES_MAX = 1 << 16,   /* new code of a module */
	TREE_DEPTH = 64,
	NAMES_MAX = 64 << 20,  /* bytes of a name section */
	URL_MAX = 1024,
};

struct wasm_code {
	uint64_t object, start;
	uint32_t size;
	int32_t index;
};

struct wasm_module {
	uint32_t pid;
	uint64_t native, bytes, size; /* the NativeModule, the module's bytes */
	uint64_t script;
	uint8_t *names;               /* contents of its name section; owned */
	size_t names_size;
	VEC(struct wasm_code) codes;  /* of the vector of new code */
};

struct v8_wasm {
	VEC(struct wasm_module) modules;
	struct idmap instances; /* by process and instance -> index of its module + 1 */
};

struct v8_wasm *v8_wasm_new(void)
{
	return calloc(1, sizeof(struct v8_wasm));
}

void v8_wasm_free(struct v8_wasm *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->modules.len; i++) {
		free(w->modules.data[i].names);
		vec_done(&w->modules.data[i].codes);
	}
	vec_done(&w->modules);
	idmap_done(&w->instances);
	free(w);
}

/* ---- memory of the process ---------------------------------------------------------- */

/* Reads words, in small pieces because the object may be the last one that is mapped. What is not readable is 0. */
static void read_words(const struct v8_heap *h, uint64_t addr, uint64_t *words, size_t n)
{
	memset(words, 0, n * sizeof(*words));
	for (size_t i = 0; i < n; i += OBJECT_WORDS)
		if (h->read(h->arg, addr + 8 * i, words + i, OBJECT_WORDS * sizeof(*words)))
			return;
}

static bool read_word(const struct v8_heap *h, uint64_t addr, uint64_t *ret)
{
	return !h->read(h->arg, addr, ret, sizeof(*ret));
}

static bool is_address(uint64_t v)
{
	return v >= 65536 && !(v & 7) && !(v >> V8_ADDRESS_BITS);
}

/* Returns whether these are a pointer to a module's bytes, and their number. */
static bool is_module(const struct v8_heap *h, const uint64_t bytes[2])
{
	static const uint8_t begins[8] = {0, 'a', 's', 'm', 1, 0, 0, 0};
	uint8_t head[8];

	return bytes[0] >= 65536 && bytes[1] > sizeof(head) && bytes[1] < UINT32_MAX &&
		!h->read(h->arg, bytes[0], head, sizeof(head)) && !memcmp(head, begins, sizeof(head));
}

/* Finds the bytes of a module: NativeModule has a std::shared_ptr to their address and size. */
static bool find_bytes(const struct v8_heap *h, uint64_t native, uint64_t ret[2])
{
	uint64_t words[NATIVE_WORDS];

	read_words(h, native, words, NATIVE_WORDS);
	for (size_t i = NATIVE_FIRST; i < NATIVE_WORDS; i++)
		if (is_address(words[i]) && !h->read(h->arg, words[i], ret, 2 * sizeof(*ret)) && is_module(h, ret))
			return true;
	return false;
}

/* ---- the module of an instance -------------------------------------------------------- */

/* Returns whether the object is the Script of a module, and its NativeModule. */
static bool native_of(const struct v8_heap *h, uint64_t script, struct wasm_module *ret)
{
	uint64_t foreign, managed, shared, bytes[2];

	if (!v8_word(h, script, h->at->script_module, &foreign) || !v8_word(h, foreign, 8, &managed) ||
		!is_address(managed) || !read_word(h, managed + FOREIGN_SHARED, &shared) || !is_address(shared) ||
		!read_word(h, shared, &ret->native) || !is_address(ret->native) || !find_bytes(h, ret->native, bytes))
		return false;
	ret->script = script;
	ret->bytes = bytes[0];
	ret->size = bytes[1];
	return true;
}

struct objects {
	uint64_t object[OBJECTS_MAX];
	size_t n, scripts;
};

static bool is_new(const struct objects *o, uint64_t object)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->object[i] == object)
			return false;
	return true;
}

/* Adds the objects to which one refers. Returns true when one of them is the Script. */
static bool follow(const struct v8_heap *h, struct objects *o, uint64_t object, size_t n, struct wasm_module *ret)
{
	uint64_t words[ROOT_WORDS];

	read_words(h, object - 1, words, n);
	for (size_t i = 1; i < n && o->n < OBJECTS_MAX; i++) {
		if ((words[i] & 3) != 1 || words[i] >> V8_ADDRESS_BITS || !is_new(o, words[i]))
			continue;
		if (v8_type(h, words[i]) == h->at->script_type && o->scripts++ < SCRIPTS_MAX &&
			native_of(h, words[i], ret))
			return true;
		o->object[o->n++] = words[i];
	}
	return false;
}

static bool find_module(const struct v8_heap *h, uint64_t instance, struct wasm_module *ret)
{
	struct objects o = {};
	size_t from = 0;

	if (follow(h, &o, instance, ROOT_WORDS, ret))
		return true;
	for (int depth = 0; depth < 2; depth++) { /* data -> instance -> module -> script */
		size_t to = o.n;

		for (; from < to; from++)
			if (follow(h, &o, o.object[from], OBJECT_WORDS, ret))
				return true;
	}
	return false;
}

/* ---- names ---------------------------------------------------------------------------- */

static bool read_u32(struct bytes *b, uint32_t *ret)
{
	uint64_t v;

	if (!read_vlq(b, &v) || v > UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

const char *wasm_function_name(const uint8_t *section, size_t size, uint32_t index, size_t *ret_len)
{
	struct bytes b = {section, section + size};
	uint32_t n, length, at;
	uint8_t id;

	for (;;) { /* subsections: 1 has the names of functions */
		if (b.p >= b.end)
			return NULL;
		id = *b.p++;
		if (!read_u32(&b, &length) || length > (size_t)(b.end - b.p))
			return NULL;
		if (id == 1)
			break;
		b.p += length;
	}
	b.end = b.p + length;
	if (!read_u32(&b, &n))
		return NULL;
	while (n--) {
		if (!read_u32(&b, &at) || !read_u32(&b, &length) || length > (size_t)(b.end - b.p))
			return NULL;
		if (at == index) {
			*ret_len = length;
			return length ? (const char *)b.p : NULL;
		}
		b.p += length;
	}
	return NULL;
}

/* Reads the custom section "name", which is the last one, or before other custom sections. */
static void read_names(const struct v8_heap *h, struct wasm_module *m)
{
	static const uint8_t name[5] = {4, 'n', 'a', 'm', 'e'};
	uint64_t at = 8;

	for (int i = 0; i < SECTIONS_MAX && m->size - at > 16; i++) {
		uint8_t head[16];
		struct bytes b = {head + 1, head + sizeof(head)};
		uint32_t length;

		if (h->read(h->arg, m->bytes + at, head, sizeof(head)) || !read_u32(&b, &length))
			return;
		at += (uint64_t)(b.p - head);
		if (length > m->size - at)
			return;
		if (!head[0] && length > sizeof(name) && length < NAMES_MAX && !memcmp(b.p, name, sizeof(name))) {
			m->names_size = length - sizeof(name);
			m->names = malloc(m->names_size);
			if (!m->names || h->read(h->arg, m->bytes + at + sizeof(name), m->names, m->names_size))
				m->names_size = 0;
			return;
		}
		at += length;
	}
}

/* ---- code ----------------------------------------------------------------------------- */

static bool read_code(const struct v8_heap *h, uint64_t native, uint64_t object, struct wasm_code *ret)
{
	uint64_t words[OBJECT_WORDS];

	if (!is_address(object) || h->read(h->arg, object, words, sizeof(words)) || words[0] != native)
		return false;
	ret->object = object;
	ret->start = words[1];
	memcpy(&ret->size, (const char *)words + h->at->wasm_size, sizeof(ret->size));
	memcpy(&ret->index, (const char *)words + h->at->wasm_index, sizeof(ret->index));
	return true;
}

/* Finds the code of a pc in std::map<Address, std::unique_ptr<WasmCode>>. A node: color, parent, left, right, key,
 * value. */
static bool find_in_tree(const struct v8_heap *h, uint64_t native, uint64_t root, uint64_t pc, struct wasm_code *ret)
{
	uint64_t node = root, best = 0, words[6];

	for (int depth = 0; depth < TREE_DEPTH && is_address(node); depth++) {
		if (h->read(h->arg, node, words, sizeof(words)))
			return false;
		if (words[4] <= pc)
			best = words[5];
		node = words[4] <= pc ? words[3] : words[2];
	}
	return best && read_code(h, native, best, ret) && pc - ret->start < ret->size;
}

static bool has_code(struct wasm_module *m, const struct v8_heap *h, uint64_t pc, struct wasm_code *ret)
{
	for (size_t i = 0; i < m->codes.len; i++)
		if (pc - m->codes.data[i].start < m->codes.data[i].size &&
			read_code(h, m->native, m->codes.data[i].object, ret) && pc - ret->start < ret->size)
			return true;
	return false;
}

/* Reads what was added to the vector of new code; V8 empties it now and then, into the map. */
static void read_new(struct wasm_module *m, const struct v8_heap *h, uint64_t begin, uint64_t end)
{
	size_t n = (size_t)((end - begin) / 8), from = m->codes.len;
	uint64_t object;

	if (n > CODES_MAX)
		n = CODES_MAX;
	if (from > n || (from && (!read_word(h, begin + 8 * (from - 1), &object) ||
					 object != m->codes.data[from - 1].object)))
		m->codes.len = from = 0;
	for (; from < n; from++) {
		struct wasm_code c = {};

		if (!read_word(h, begin + 8 * from, &object))
			return;
		read_code(h, m->native, object, &c);
		c.object = object;
		vec_push(&m->codes, c);
	}
}

/* Finds the code of a pc in a NativeModule. At `at`: the header of the map (color, parent, left, right, count), the
 * vector (begin, end, capacity), the table of code by function. */
static bool find_code(struct wasm_module *m, const struct v8_heap *h, uint64_t pc, struct wasm_code *ret)
{
	uint64_t words[NATIVE_WORDS], parent;
	size_t headers = 0;

	read_words(h, m->native, words, NATIVE_WORDS);
	for (size_t i = NATIVE_FIRST; i + 8 < NATIVE_WORDS && headers < HEADERS_MAX; i++) {
		const uint64_t *at = words + i, *vector = at + 5;
		uint64_t header = m->native + 8 * i;

		if (vector[0] > vector[1] || vector[1] > vector[2] || (vector[0] && !is_address(vector[0])) ||
			(vector[0] | vector[1]) % 8 || !is_address(at[8]))
			continue;
		if (at[4] ? !is_address(at[1]) || !read_word(h, at[1] + 8, &parent) || parent != header :
			at[1] || at[2] != header || at[3] != header)
			continue;
		headers++;
		if (at[4] && find_in_tree(h, m->native, at[1], pc, ret))
			return true;
		if (vector[0])
			read_new(m, h, vector[0], vector[1]);
		if (has_code(m, h, pc, ret))
			return true;
	}
	return false;
}

/* ---- the store ------------------------------------------------------------------------ */

static size_t add_module(struct v8_wasm *w, const struct v8_heap *h, struct wasm_module *found)
{
	for (size_t i = 0; i < w->modules.len; i++) {
		const struct wasm_module *m = &w->modules.data[i];

		if (m->pid == found->pid && m->native == found->native && m->bytes == found->bytes &&
			m->size == found->size) {
			w->modules.data[i].script = found->script; /* it may have moved */
			return i;
		}
	}
	read_names(h, found);
	vec_push(&w->modules, *found);
	return w->modules.len - 1;
}

/* Returns the code's module, or NULL. An instance may have moved, and another one be in its place. */
static struct wasm_module *module_of(struct v8_wasm *w, const struct v8_heap *h, const struct v8_record *r,
	struct wasm_code *ret)
{
	uint64_t key = idmap_hash(r->shared, r->head.pid), *known = idmap_find(&w->instances, key), bytes[2];
	struct wasm_module found = {.pid = r->head.pid}, *m = known ? &w->modules.data[*known - 1] : NULL;

	if (m && find_bytes(h, m->native, bytes) && bytes[0] == m->bytes && bytes[1] == m->size &&
		find_code(m, h, r->pc, ret))
		return m;
	if (w->modules.len >= MODULES_MAX || !find_module(h, r->shared, &found))
		return NULL;
	idmap_set(&w->instances, key, add_module(w, h, &found) + 1);
	m = &w->modules.data[*idmap_find(&w->instances, key) - 1];
	return find_code(m, h, r->pc, ret) ? m : NULL;
}

bool v8_wasm_name(struct v8_wasm *w, const struct v8_heap *h, const struct v8_record *r, struct str *name,
	struct str *url)
{
	const struct wasm_module *m;
	struct wasm_code code;
	const char *text;
	uint64_t string;
	size_t n;

	if (!h->at->script_module || !h->at->wasm_size)
		return false;
	m = module_of(w, h, r, &code);
	if (!m || code.index < 0)
		return false;
	text = m->names_size ? wasm_function_name(m->names, m->names_size, (uint32_t)code.index, &n) : NULL;
	if (text)
		str_addn(name, text, n);
	else
		str_addf(name, "wasm-function[%d]", code.index);
	if (v8_type(h, m->script) == h->at->script_type && v8_word(h, m->script, h->at->script_name, &string))
		v8_string(h, string, URL_MAX, url);
	return true;
}
