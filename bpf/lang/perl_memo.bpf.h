/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* perl_memo.bpf.h - the memo of Perl's subs, and their frames. Part of perl.bpf.c. */
#pragma once

/* Returns 1 if this_memo(), of an earlier walk, is still valid: it is a sub's. Only the sub's body is read. */
__global int perl_known(struct walk *w, struct perl_scratch *s, __u64 addr)
{
	struct list_memo *m;

	if (!w || !s)
		return 0;
	m = this_memo(s);
	if (m->addr != addr || m->pid != w->pid || !m->body ||
		bpf_probe_read_user(&s->code[CV_STASH / 8], CV_BYTES - CV_STASH, (const void *)(m->body + CV_STASH)))
		return 0;
	s->own.body = m->body;
	if (!m->words || hash_words(s) != m->words)
		return 0;
	m->walk = s->walk;
	m->stamp = perl_stable(s);
	return 1;
}

/* Puts the code in s->own into the memo, as addr: of the sub, or a hash of the kind and the file. Returns 0. */
__global int perl_code(struct walk *w, struct perl_scratch *s, __u64 addr)
{
	__u64 cookie = 0, id;
	int readable, seen = 0;
	struct list_memo *m;

	if (!w || !s)
		return -1;
	m = this_memo(s);
	s->own.file = file_name(s, s->own.glob);
	readable = !perl_names(s);
	if (readable) {
		cookie = perl_cookie(s);
		if (refresh(m, w, s, addr, cookie)) {
			m->body = s->own.body;
			m->words = s->own.words;
			m->stamp = s->own.stable;
			m->file = (__u32)s->own.glob;
			m->cop = 0;
			return 0;
		}
	}
	id = find_code(w, s, seen_mix(s->own.sub, s->own.glob), cookie, readable, &seen);
	/* The next walk looks an unreadable one up again. */
	*m = (struct list_memo){ addr, seen ? cookie : ~cookie, id, w->pid, s->walk, seen ? s->own.body : 0,
		s->own.words, 0, (__u32)s->own.glob, seen ? s->own.stable : 0 };
	return 0;
}

/* Returns whether this_memo() is that of the sub's frame at this statement, and is still valid.
 *
 * Nothing is read if Perl has compiled nothing since the sub and the statement were compared (the stamp; its 32 bits
 * are a hash). A new statement gets the memory of a freed one only when Perl compiles. The statement is the sub's own
 * (sure), and no other CV runs it (perl_stable()): another sub that gets the address of a freed one does not run it.
 * Only a new name of a sub that exists is seen late, by a second. */
__global int perl_is_frame(struct walk *w, struct perl_scratch *s, __u64 sub, __u64 statement)
{
	const struct list_memo *m;

	if (!w || !s)
		return 0;
	m = this_memo(s);
	if (m->addr != sub || m->cop != statement || !place_of(w)->own.sure)
		return 0;
	return (m->stamp == s->own.stamp && m->stamp && m->pid == w->pid) || m->walk == s->walk ||
	       perl_known(w, s, sub);
}

/* Keeps the statement in this_memo(), which has the code that runs it. Returns the frame. */
__global __u64 perl_note(struct walk *w, struct perl_scratch *s, __u64 statement)
{
	struct list_memo *m;
	__u64 line;

	if (!w || !s)
		return 0;
	m = this_memo(s);
	line = s->own.words_of_cop[0] >> 32;
	line = line > PERL_LINE_MAX ? 0 : line;
	/* PL_compiling is not an operation: its line changes. */
	m->cop = place_of(w)->own.sure && s->own.words_of_cop[0] & OP_TYPE ? statement : 0;
	m->id = (m->id & CODE_MASK) | line << CODE_BITS;
	return FRAME_PERL(m->id & CODE_MASK, line);
}

/* Returns the frame of a sub, or of an enum perl_kind, at a statement; 0: it has no line. An unreadable statement has
 * no file: its frame marks the stack. */
static __always_inline __u64 frame_of(struct walk *w, struct perl_scratch *s, __u64 sub, __u64 statement)
{
	int readable, is_sub = sub >= PERL_KINDS;
	__u64 *cop = s->own.words_of_cop, addr = sub;
	struct list_memo *m;

	if (is_sub) {
		memo_of(s, sub);
		if (perl_is_frame(w, s, sub, statement))
			return FRAME_PERL(this_memo(s)->id & CODE_MASK, this_memo(s)->id >> CODE_BITS);
	}
	readable = !bpf_probe_read_user(cop, sizeof(s->own.words_of_cop), (const void *)(statement + COP_LINE));
	if (!readable)
		cop[0] = cop[2] = 0;
	if (sub == PERL_MAIN && !(cop[0] >> 32) && readable) /* C calls Perl outside of a program */
		return 0;
	if (!is_sub) {
		addr = seen_mix(sub, cop[2]);
		memo_of(s, addr);
	}
	m = this_memo(s);
	if (!is_fresh(m, s, addr) || m->file != (__u32)cop[2]) {
		s->own.sub = sub;
		s->own.glob = cop[2];
		if (m->file != (__u32)cop[2] || !perl_known(w, s, addr))
			perl_code(w, s, addr);
	}
	return perl_note(w, s, statement);
}
