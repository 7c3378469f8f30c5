/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* ruby_memo.bpf.h - the memo of Ruby's code objects, and how long it is valid. Part of ruby.bpf.c. */
#pragma once

static __always_inline __u64 path_hash(struct ruby_scratch *s, __u64 object)
{
	return has_last(s, LAST_PATH, object) ? s->last[LAST_PATH].value :
		set_last(s, LAST_PATH, object, ruby_text(s, ruby_path(object)));
}

/* Returns the cookie of the code whose head is in s->code. */
__global __u64 ruby_cookie(struct ruby_scratch *s, __u64 addr, __u64 class)
{
	__u64 h;

	if (!s)
		return 0;
	if (addr & 1)
		return seen_mix(seen_mix(class, addr), s->code[0]);
	h = seen_mix(seen_mix(class, code_word(s, 0)), ruby_text(s, code_word(s, BODY_LABEL)));
	h = seen_mix(h, path_hash(s, code_word(s, BODY_PATH)));
	return seen_mix(seen_mix(h, code_word(s, BODY_START)), code_word(s, BODY_LINE));
}

/* Returns 1 if the memo of an earlier walk is still valid. pc: of the frame. Nothing is read if no collection that
 * could free the code has begun since the code was compared. If collections cannot be counted, the iseq's body is
 * compared: it is the same if its words are and the frame runs its instructions. */
static __always_inline int is_known(struct walk *w, struct ruby_scratch *s, struct list_memo *m, __u64 addr, __u64 pc)
{
	if (m->addr != addr || m->pid != w->pid || m->method != s->own.method || m->tick != s->own.tick ||
		pc - m->start > 8ULL * m->size)
		return 0;
	if (s->proc.vm ? (!m->stamp || m->stamp != s->own.stamp) && (!m->major || m->major != s->own.major) :
			 read_body(s, addr, m->body) || m->cookie != ruby_cookie(s, addr, m->class))
		return 0;
	m->walk = s->walk;
	return 1;
}

static __always_inline void keep_stamps(struct ruby_scratch *s, struct list_memo *m)
{
	m->tick = s->own.tick;
	m->stamp = s->own.stamp;
	m->major = s->own.is_old ? s->own.major : 0;
}

/* Puts the iseq at addr, or the method entry of a C function (addr | 1), into the memo, with the class of own.method.
 * Returns 0. */
__global int ruby_code(struct walk *w, struct ruby_scratch *s, __u64 addr, __u64 pc)
{
	__u64 cookie = 0, class = 0, id;
	int readable, seen = 0;
	struct list_memo *m;

	if (!w || !s)
		return -1;
	m = this_memo(s);
	if (is_known(w, s, m, addr, addr & 1 ? m->start : pc))
		return 0;
	readable = !read_head(s, addr);
	if (readable) {
		class = ruby_class(s);
		cookie = ruby_cookie(s, addr, class);
		if (refresh(m, w, s, addr, cookie)) {
			m->method = s->own.method;
			m->class = class;
			m->body = s->own.body;
			keep_stamps(s, m);
			return 0;
		}
	}
	id = find_code(w, s, addr, cookie, readable, &seen);
	/* The next walk looks an unreadable one up again. */
	*m = (struct list_memo){ addr, seen ? cookie : ~cookie, id, w->pid, s->walk,
		readable && !(addr & 1) ? code_word(s, BODY_START) : 0, s->own.method,
		class, readable ? code_word(s, 0) >> 32 : 0, 0, s->own.body };
	if (seen)
		keep_stamps(s, m);
	return 0;
}
