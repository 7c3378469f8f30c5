// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* lookup.bpf.c - finds a mapping by process and address, and then its rule.
 *
 * Searches are bisections without branches, as in mappings.bpf.h. */
#include "lookup.bpf.h"

#include "lang.bpf.h"

/* Processes that are not in `mappings`, by UNKNOWN_SLOT(). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNKNOWN_SLOTS);
	__type(key, __u32);
	__type(value, struct unknown_proc);
} unknown_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct inode_key);
	__type(value, struct inode_file);
} files_by_inode SEC(".maps");

/* ---- process and address -> mapping ------------------------------------ */

static __always_inline void no_mapping(struct walk *w)
{
	w->map.start = w->map.end = 0;
	w->map.bias = 0;
	w->map.file = w->map.flags = 0;
	w->cached_span = 0;
}

/* ---- mappings that userspace has not published ------------------------ */

#ifdef STRATA_HOST
__global int walk_vma(struct walk *w)
{
	return -1; /* the host knows all mappings */
}
#else
struct vm_area_struct;

#define VM_EXEC 4

struct vma_seen {
	__u64 start, end, offset; /* offset: in the file, bytes */
	__u64 flags;
	struct inode_key key;
};

static __always_inline __u64 kernel_word(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (const void *)addr);
	return v;
}

static long see_vma(struct task_struct *task, struct vm_area_struct *vma, struct vma_seen *s)
{
	__u64 file = kernel_word((__u64)vma + unwind_config.vma_file), inode, sb;
	__u32 dev = 0;

	s->start = kernel_word((__u64)vma + unwind_config.vma_end - 8);
	s->end = kernel_word((__u64)vma + unwind_config.vma_end);
	s->offset = kernel_word((__u64)vma + unwind_config.vma_pgoff) <<
		(unwind_config.page_shift & 31);
	if (unwind_config.vma_flags)
		s->flags = kernel_word((__u64)vma + unwind_config.vma_flags);
	if (!file)
		return 0;
	inode = kernel_word(file + unwind_config.file_inode);
	sb = kernel_word(inode + unwind_config.inode_sb);
	bpf_probe_read_kernel(&dev, sizeof(dev), (const void *)(sb + unwind_config.sb_dev));
	s->key.inode = kernel_word(inode + unwind_config.inode_ino);
	s->key.dev = dev;
	return 0;
}

/* A language's compiled code is in anonymous mappings, and more of them appear as the process runs. Returns 0
 * on success, -1 on failure. */
static __always_inline int compiled_code(struct walk *w, const struct vma_seen *s)
{
	__u32 lang;

	if (!(s->flags & VM_EXEC))
		return -1;
	lang = lang_meet(w, LANGS_FRAME, walk_languages(w));
	if (!lang)
		return -1;
	w->map.start = s->start;
	w->map.end = s->end;
	w->map.bias = s->start & ~FRAME_VADDR_MASK;
	w->map.flags = MAPPING_ANON | MAPPING_LANG(lang);
	return 0;
}

/* Sets w->map from the kernel's mapping of w->lookup, if its file is known: a process has its first events
 * before userspace has read it. In an interrupt this works once, because the kernel can release the lock
 * later for only one such caller. Returns 0 on success, -1 on failure. */
__global int walk_vma(struct walk *w)
{
	struct vma_seen s = {};
	struct inode_file *f;

	if (!w || !unwind_config.vma_lookup)
		return -1;
	if (bpf_find_vma(bpf_get_current_task_btf(), w->lookup, see_vma, &s, 0))
		return -1;
	if (!s.key.inode)
		return compiled_code(w, &s);
	f = bpf_map_lookup_elem(&files_by_inode, &s.key);
	if (!f)
		return -1;
	for (__u32 i = 0; i < INODE_SEGMENTS; i++) {
		if (i >= f->n || s.offset < f->segment[i].offset || s.offset >= f->segment[i].end)
			continue;
		w->map.start = s.start;
		w->map.end = s.end;
		w->map.bias = s.start - s.offset - f->segment[i].delta;
		w->map.file = f->file;
		w->map.flags = MAPPING_LANGS(f->languages);
		if (f->languages & LANGS_LIST)
			list_meet(w, f->languages);
		if (!(f->languages & LANGS_FRAME) || lang_meet(w, f->languages, walk_languages(w)))
			return 0;
		no_mapping(w);
		return -1;
	}
	return -1;
}
#endif

__global int walk_published(struct walk *w)
{
	struct mapping_chunk *c;
	struct mapping *m;
	__u64 addr;

	if (!w)
		return UNWIND_NO_MAPPING + 1;
	addr = w->lookup;
	if (addr >> 63)
		return UNWIND_NO_MAPPING + 1;
	c = chunk_of(w->pid, 0);
	if (!c)
		return UNWIND_NO_PROCESS + 1;
	m = mapping_below(c, w->pid, addr);
	if (!m || addr < m->start || addr >= m->end)
		return UNWIND_NO_MAPPING + 1;
	w->map = *m;
	return 0;
}

#ifdef STRATA_HOST
__global int walk_is_stale(struct walk *w)
{
	return 0;
}
#else
__global int walk_is_stale(struct walk *w)
{
	struct mapping_chunk *c = w ? chunk_of(w->pid, 0) : NULL;
	__u64 mm;

	if (!c || !unwind_config.task_mm || !unwind_config.mm_exec_vm)
		return 0;
	mm = kernel_word(bpf_get_current_task() + unwind_config.task_mm);
	return kernel_word(mm + unwind_config.mm_exec_vm) << (unwind_config.page_shift & 31) >> 10 !=
	       c->code_kb;
}
#endif

__global __u64 walk_pcre(struct walk *w, int end)
{
	struct mapping_chunk *c = w ? chunk_of(w->pid, 0) : NULL;

	return !c ? 0 : end ? c->pcre_end : c->pcre_start;
}

__global __u32 walk_languages(struct walk *w)
{
	struct mapping_chunk *c = w ? chunk_of(w->pid, 0) : NULL;

	return c ? c->languages : 0;
}

__global int walk_may_have(struct walk *w, __u32 languages)
{
	struct mapping_chunk *c = w ? chunk_of(w->pid, 0) : NULL;

	return !c || (c->languages & languages) || walk_is_stale(w);
}

static __always_inline int is_within(const struct mapping *m, __u64 addr)
{
	return addr - m->start < m->end - m->start;
}

/* Few mappings alternate: a program's and libc's, Python's and an extension's; in node, those of compiled code, of V8's
 * builtins, of the program and of libc. */
__global int walk_mapping(struct walk *w)
{
	struct mapping found;
	int err;

	if (!w)
		return UNWIND_NO_MAPPING + 1;
	found = w->before;
	w->before = w->map;
	for (int i = 0; i < MAPPINGS_OLDER && !is_within(&found, w->lookup); i++) {
		struct mapping older = w->older[i];

		w->older[i] = found;
		found = older;
	}
	w->map = found;
	if (!is_within(&found, w->lookup)) {
		no_mapping(w);
		err = walk_published(w);
		if (err) {
			w->kept_pid = 0; /* nothing says when this mapping changes */
			if (walk_vma(w))
				return err;
		}
	}
	set_span(w);
	return 0;
}

/* ---- file and address -> rule ------------------------------------------ */

/* The verifier checks this function once, not in each round of fast_frames(). */
__global __u64 cached_rule(__u32 file, __u64 vaddr)
{
	struct cache_set *s = cache_set(file, vaddr);
	__u64 tag = cache_tag(file, vaddr);

	for (int i = 0; s && i < CACHE_WAYS; i++)
		if (s->entry[i] >> 24 == tag)
			return s->entry[i];
	return 0;
}

__global int walk_table(struct walk *w)
{
	__u32 file, first = 0;
	struct table_header *h;
	void *t;

	if (!w)
		return UNWIND_NO_TABLE + 1;
	file = w->map.file;
	t = bpf_map_lookup_elem(&tables, &file);
	if (!t)
		return UNWIND_TABLE_LATE + 1;
	h = bpf_map_lookup_elem(t, &first);
	if (!h)
		return UNWIND_TABLE_LATE + 1;
	w->table_file = file;
	w->table_base = h->base;
	w->table_npages = h->npages;
	w->table_rules = h->rules;
	w->table_pages = h->pages;
	w->table_rows = h->rows;
	w->table_nranges = h->nranges;
	for (int i = 0; i < TABLE_RANGES; i++) {
		w->range[i].start = h->range[i].start;
		w->range[i].end = h->range[i].end;
	}
	w->table_code = h->code_start;
	w->table_code_size = h->code_end - h->code_start;
	return 0;
}

static __always_inline int in_ranges(struct walk *w, __u64 rel)
{
	for (int i = 0; i < TABLE_RANGES; i++)
		if (rel >= w->range[i].start && rel < w->range[i].end)
			return 1;
	return 0;
}

/* Returns the last row of [at, end) that is not above low. */
static __always_inline __u32 row_at(struct walk *w, void *t, __u32 at, __u32 end, __u64 low)
{
	__u32 n = end - at;

	low &= (1 << TABLE_PAGE_SHIFT) - 1;
	for (int i = 0; i < 11; i++) {
		__u32 half = n >> 1, k = w->table_rows + at + half;
		struct table_chunk *c;

		if (n <= 1)
			break;
		c = chunk_at(t, k >> 1);
		if (!c)
			break; /* the table is damaged: the verifier need not follow the other rounds */
		at += half * not_above(half_of(c, k) >> 16, low);
		n -= half;
	}
	return at;
}

/* Returns the rule's index in the page that contains rel. */
static __always_inline __u32 bisect_page(struct walk *w, void *t, __u64 rel)
{
	__u32 page = w->table_pages + (rel >> TABLE_PAGE_SHIFT);
	__u32 at = row_at(w, t, half_at(t, page), half_at(t, page + 1), rel);

	return half_at(t, w->table_rows + at) & 0xffff;
}

__global int walk_rule(struct walk *w)
{
	__u64 vaddr, rel, packed;
	__u32 file, index;
	int err;
	void *t;

	if (!w)
		return UNWIND_NO_TABLE + 1;
	file = w->map.file;
	if (w->table_file != file) {
		err = walk_table(w);
		if (err)
			return err;
	}
	t = bpf_map_lookup_elem(&tables, &file);
	if (!t)
		return UNWIND_TABLE_LATE + 1;
	vaddr = w->lookup - w->map.bias;
	rel = vaddr - w->table_base;
	w->rule = 0;
	if (rel >> TABLE_PAGE_SHIFT < w->table_npages) {
		index = bisect_page(w, t, rel);
		if (index != RULE_NONE)
			w->rule = word_at(t, (w->table_rules >> 1) + index);
	}
	w->in_loop = w->table_nranges ? in_ranges(w, rel) : 0;
	packed = cache_pack(w->rule, w->in_loop);
	if (packed && w->cached_span)
		cache_add(file, vaddr, packed);
	return 0;
}

#define OWN_PAGES 64 /* the length of long functions */

/* Visits a page after the function's start: if the function continues there, the page begins with the
 * function's rule, because neighbours differ. */
static long own_page(__u32 i, void *data)
{
	struct walk *w = *(struct walk **)data; /* bpf_loop() passes only addresses of the stack */
	__u32 file = w->search.file, page = w->search.page, start, end;
	void *t = bpf_map_lookup_elem(&tables, &file);

	if (!t)
		return 1;
	start = half_at(t, w->table_pages + page);
	end = half_at(t, w->table_pages + page + 1);
	if ((half_at(t, w->table_rows + start) & 0xffff) != w->search.rule)
		return 1;
	if (page == w->search.last)
		w->search.own = row_at(w, t, start, end, w->search.low) == start;
	w->search.page = page + 1;
	return page == w->search.last || end - start != 1;
}

__global int walk_own(struct walk *w, __u64 addr)
{
	__u64 here, low, high;
	__u32 index, last;
	void *t;

	if (!w || walk_table(w))
		return 0;
	here = w->lookup - w->map.bias - w->table_base;
	addr = addr - w->map.bias - w->table_base;
	low = here < addr ? here : addr;
	high = here < addr ? addr : here;
	if (high >> TABLE_PAGE_SHIFT >= w->table_npages)
		return 0;
	w->search.own = 0;
	w->search.file = w->table_file;
	index = w->search.file; /* Linux 6.1 takes no key from memory that was passed here */
	t = bpf_map_lookup_elem(&tables, &index);
	if (!t)
		return 0;
	w->search.page = low >> TABLE_PAGE_SHIFT;
	w->search.last = high >> TABLE_PAGE_SHIFT;
	w->search.low = high & ((1 << TABLE_PAGE_SHIFT) - 1);
	/* No function begins between low and its page's end, or between low and high. */
	index = half_at(t, w->table_pages + w->search.page);
	last = half_at(t, w->table_pages + w->search.page + 1);
	w->search.rule = bisect_page(w, t, low);
	if (w->search.page == w->search.last)
		return row_at(w, t, index, last, low) == row_at(w, t, index, last, high);
	if (row_at(w, t, index, last, low) != last - 1)
		return 0;
	w->search.page++;
	bpf_loop(OWN_PAGES, own_page, &w, 0);
	return w->search.own;
}

/* ---- unknown processes and addresses ----------------------------------- */

/* A quarter of the ring buffer is reserved for other records. */
__global int ring_is_full(void)
{
	__u64 size = bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE);

	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > size - (size >> 2);
}

/* An unknown process will be published; until then it may ask while the ring buffer has space. */
__global int walk_may_ask(__u32 pid)
{
	struct mapping_chunk *c = chunk_of(pid, 0);
	__u32 slot = UNKNOWN_SLOT(pid);
	struct unknown_proc *u;

	if (ring_is_full())
		return 0;
	if (c)
		return __sync_fetch_and_add(&c->misses, 1) < MAPPING_MISSES_MAX;
	u = bpf_map_lookup_elem(&unknown_procs, &slot);
	return !u || u->pid != pid || u->sent < UNKNOWN_BYTES_MAX;
}

__global int walk_asked(struct walk *w, __u32 size)
{
	struct unknown_proc *u;
	__u32 pid, slot;

	if (!w)
		return 0;
	pid = w->pid;
	if (chunk_of(pid, 0))
		return 0;
	slot = UNKNOWN_SLOT(pid);
	u = bpf_map_lookup_elem(&unknown_procs, &slot);
	if (!u)
		return 0;
	if (u->pid == pid) {
		__sync_fetch_and_add(&u->sent, size);
	} else {
		u->pid = pid;
		u->sent = size;
	}
	return 0;
}

__global int walk_unreadable(struct walk *w)
{
	struct mapping_chunk *c;
	__u64 now;

	if (!w || w->end != UNWIND_UNREADABLE + 1 || !w->store)
		return 0;
	c = chunk_of(w->pid, 0);
	if (c) {
		now = bpf_ktime_get_ns();
		if (now < c->next_ns || ring_is_full())
			return 0;
		c->next_ns = now + (c->readable ? READABLE_NS : UNREADABLE_NS);
	} else if (!walk_may_ask(w->pid)) {
		return 0;
	}
	w->flags |= WALK_ASK;
	return 0;
}

#define VSYSCALL 0xffffffffff600000ULL

__global int walk_unknown(struct walk *w, __u32 end)
{
	if (!w)
		return UNWIND_NO_MAPPING + 1;
	w->rule = 0;
	if (w->lookup - VSYSCALL < 4096) { /* each of its functions is a leaf */
		w->rule = RULE(RULE_CFA, RULE_REG_SP, 0, 0, 8);
		return 0;
	}
	if (!(w->flags & WALK_BLIND) && walk_may_ask(w->pid)) {
		w->flags |= WALK_ASK;
		return end + 1;
	}
	if (end == UNWIND_NO_MAPPING && walk_is_stale(w))
		end = UNWIND_NO_PROCESS;
	if (end == UNWIND_NO_MAPPING && (w->flags & WALK_GUESSED))
		return UNWIND_NO_TABLE + 1;
	w->flags |= WALK_BLIND;
	w->cause = end; /* frames may be missing, whatever frame pointers lead to */
	return 0;
}
