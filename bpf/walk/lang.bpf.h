/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lang.bpf.h - what the kernel half of a language defines, by its kind in languages.def, and the
 * calls of it from the walk. All functions are global (verified once, each alone), and take the
 * walk, never NULL where it comes from the walk.
 *
 * Any kind but LANG_NATIVE:
 *     int STEM_forget(__u32 pid)
 *         The process has run another program: what userspace published of it is void. 0.
 *
 * LANG_LIST: w->list is where the walk is in the list. Who wants these frames alone needs no native
 * walk: next until it says 0 or -1 with list.frame 0.
 *     int STEM_begin(struct walk *w)
 *         At the walk's first frame in the interpreter's loop, or without one (list.file 0). 0, or
 *         -1: the thread has no state, or it is not readable (the interpreter's frames are native
 *         ones then).
 *     int STEM_next(struct walk *w, __u64 *frame)
 *         1: one frame of this activation, innermost first; *frame 0: one that the language itself
 *         does not show. 0: this activation has no more: unwind the loop's C frame natively, and
 *         ask again at the next such frame. -1: a frame is not readable: no more.
 *     int STEM_batch(struct walk *w)
 *         The next frames of this activation, in list.batch, as far as all that they need is at
 *         hand: so many; 0: STEM_next() has to look.
 *     int STEM_outer(struct walk *w)
 *         The list has ended. 0: the thread has another one, of an interpreter that runs this one,
 *         which comes next; -1: it has not.
 *     __u64 STEM_compiled(struct walk *w)
 *         The rule of what the language compiled, which runs in the loop's own C frame; 0: none.
 *     int STEM_meet(struct walk *w)
 *         w->map is a file of the language, in a process that userspace has not published: the
 *         process is known to have the language from here on. 0.
 *
 * LANG_NATIVE:
 *     int STEM_unwind(struct walk *w)
 *         walk_step() by a rule of kind RULE_OWN or above.
 *
 * LANG_FRAME:
 *     int STEM_meet(struct walk *w)
 *         w->map is a file of the language (or anonymous), in a process that userspace has not
 *         published. 0: the process is known to have the language from here on; or -1.
 *     __u64 STEM_frame(struct walk *w)
 *         The language's frame that is at w's frame pointer; 0: there is none.
 *     __u64 STEM_frames(struct walk *w)
 *         Several steps at once, as far as all that they need is at hand; sets w->frame_lang to 0
 *         where the language's code ends. The address of what is to be in the window, or 0.
 *     int STEM_unwind(struct walk *w)
 *         walk_step() by RULE_LANG. */
#pragma once
#include "walk.bpf.h"

#define LIST_DECLARE(stem)                                                               \
	int stem##_forget(__u32 pid);                                                    \
	int stem##_begin(struct walk *w);                                                \
	int stem##_next(struct walk *w, __u64 *frame);                                   \
	int stem##_batch(struct walk *w);                                                \
	int stem##_outer(struct walk *w);                                                \
	__u64 stem##_compiled(struct walk *w);                                           \
	int stem##_meet(struct walk *w);
#define NATIVE_DECLARE(stem) int stem##_unwind(struct walk *w);
#define FRAME_DECLARE(stem)                                                              \
	int stem##_forget(__u32 pid);                                                    \
	int stem##_meet(struct walk *w);                                                 \
	__u64 stem##_frame(struct walk *w);                                              \
	__u64 stem##_frames(struct walk *w);                                             \
	int stem##_unwind(struct walk *w);
#define L(id, stem, builtin, kind, name) kind##_DECLARE(stem)
#include "bpf/languages.def"
#undef L

/* Whether a walk of this object wants the language's frames. The verifier knows it, and looks at no function of
 * the others (before Linux 6.8 it does). All of them unwind native frames that are theirs. */
#define LANG_IS_WANTED(id) \
	(!unwind_config.languages || unwind_config.languages & 1u << FRAME_LANG_##id)

/* ---- LANG_LIST ---- */

#ifdef STRATA_HOST
/* A list that came with the walk's record stands in for the process' own: host/walk.c. */
int host_has_list(void);
int host_list_begin(struct walk *w);
int host_list_next(struct walk *w, __u64 *frame);
#else
#define host_has_list()            0
#define host_list_begin(w)         (-1)
#define host_list_next(w, frame)   (-1)
#endif

#define LIST_ONLY(code)   code
#define NATIVE_ONLY(code)
#define FRAME_ONLY(code)

static __always_inline int list_begin(struct walk *w)
{
	if (host_has_list())
		return host_list_begin(w);
	switch (w->list.lang) {
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(case FRAME_LANG_##id: return LANG_IS_WANTED(id) ? stem##_begin(w) : -1;)
#include "bpf/languages.def"
#undef L
	}
	return -1;
}

static __always_inline int list_next(struct walk *w, __u64 *frame)
{
	if (host_has_list())
		return host_list_next(w, frame);
	switch (w->list.lang) {
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(case FRAME_LANG_##id: return LANG_IS_WANTED(id) ? stem##_next(w, frame) : -1;)
#include "bpf/languages.def"
#undef L
	}
	return -1;
}

static __always_inline int list_batch(struct walk *w)
{
	if (host_has_list())
		return 0;
	switch (w->list.lang) {
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(case FRAME_LANG_##id: return LANG_IS_WANTED(id) ? stem##_batch(w) : 0;)
#include "bpf/languages.def"
#undef L
	}
	return 0;
}

static __always_inline int list_outer(struct walk *w)
{
	if (host_has_list())
		return -1;
	switch (w->list.lang) {
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(case FRAME_LANG_##id: return LANG_IS_WANTED(id) ? stem##_outer(w) : -1;)
#include "bpf/languages.def"
#undef L
	}
	return -1;
}

/* The language whose interpreter's loop, or compiled code, is mapped; 0: none. */
static __always_inline __u32 list_of_mapping(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (flags & MAPPING_LANG(FRAME_LANG_##id)) return FRAME_LANG_##id;)
#include "bpf/languages.def"
#undef L
	return 0;
}

/* The rule of what the mapping's language compiled into its interpreter's frames. */
static __always_inline __u64 list_compiled(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (flags & MAPPING_LANG(FRAME_LANG_##id)) return stem##_compiled(w);)
#include "bpf/languages.def"
#undef L
	return 0;
}

#ifndef STRATA_HOST
/* A process that userspace has not published maps a file (w->map) that has those languages (1 << enum
 * frame_lang): from here on all its walks can read their lists. */
static __always_inline void list_meet(struct walk *w, __u32 languages)
{
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (languages & 1u << FRAME_LANG_##id) stem##_meet(w);)
#include "bpf/languages.def"
#undef L
}
#endif

/* Without a frame of an interpreter's loop: the first of the process' languages that has a list
 * in this thread. 0: begun; -1: there is none. */
static __always_inline int list_begin_any(struct walk *w)
{
	if (w->list.lang || host_has_list())
		return list_begin(w);
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(w->list.lang = FRAME_LANG_##id; if (LANG_IS_WANTED(id) && !stem##_begin(w)) return 0;)
#include "bpf/languages.def"
#undef L
	w->list.lang = 0;
	return -1;
}

#undef LIST_ONLY
#undef NATIVE_ONLY
#undef FRAME_ONLY

/* ---- LANG_NATIVE ---- */

#define LIST_ONLY(code)
#define NATIVE_ONLY(code) code
#define FRAME_ONLY(code)

static __always_inline int native_lang_unwind(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (flags & MAPPING_LANG(FRAME_LANG_##id)) return stem##_unwind(w);)
#include "bpf/languages.def"
#undef L
	return UNWIND_NO_RULE + 1;
}

#undef NATIVE_ONLY
#undef FRAME_ONLY

/* ---- LANG_FRAME ---- */

#define NATIVE_ONLY(code)
#define FRAME_ONLY(code) code

/* The frame of the mapping's language, where it is wanted; 0: none. */
static __always_inline __u64 lang_frame(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (LANG_IS_WANTED(id) && flags & MAPPING_LANG(FRAME_LANG_##id) &&   \
		(!w->filter || w->filter & 1u << FRAME_LANG_##id)) return stem##_frame(w);)
#include "bpf/languages.def"
#undef L
	return 0;
}

static __always_inline __u32 frame_lang_of(__u32 mapping_flags)
{
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (mapping_flags & MAPPING_LANG(FRAME_LANG_##id)) return FRAME_LANG_##id;)
#include "bpf/languages.def"
#undef L
	return 0;
}

static __always_inline __u64 lang_frames(struct walk *w)
{
	switch (w->frame_lang) {
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(case FRAME_LANG_##id: return LANG_IS_WANTED(id) ? stem##_frames(w) : 0;)
#include "bpf/languages.def"
#undef L
	}
	return 0;
}

static __always_inline int lang_unwind(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (flags & MAPPING_LANG(FRAME_LANG_##id)) return stem##_unwind(w);)
#include "bpf/languages.def"
#undef L
	return UNWIND_NO_RULE + 1;
}

#ifndef STRATA_HOST
/* Of those languages the first that the process has, known (1 << enum frame_lang) or found now; 0:
 * none. */
static __always_inline __u32 lang_meet(struct walk *w, __u32 languages, __u32 known)
{
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (languages & 1u << FRAME_LANG_##id &&                             \
		(known & 1u << FRAME_LANG_##id || !stem##_meet(w))) return FRAME_LANG_##id;)
#include "bpf/languages.def"
#undef L
	return 0;
}
#endif

#undef LIST_ONLY
#undef NATIVE_ONLY
#undef FRAME_ONLY
