/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lang.bpf.h - the functions that the kernel half of a language defines, by its kind in languages.def, and
 * the walk's calls of them. All functions are global (each is verified once, separately), and take the walk,
 * which is never NULL if it comes from the walk.
 *
 * Any kind except LANG_NATIVE:
 *     int STEM_forget(__u32 pid)
 *         The process runs another program now: userspace's data about it is void. Returns 0.
 *
 * LANG_LIST: w->list is the walk's place in the list. To get only these frames, no native walk is needed:
 * call STEM_next() until it returns 0 or -1 with list.frame 0.
 *     int STEM_begin(struct walk *w)
 *         Called at the walk's first frame in the interpreter's loop, or without such a frame
 *         (list.file 0). Returns 0, or -1 if the thread has no state, or it is not readable (the
 *         interpreter's frames are native ones then). Adds LIST_IN_LOOPS to list.begun if only a
 *         frame of the loop leads to its list: STEM_next() then looks at w for it while w->list_in is
 *         set, and the native walk is made in any case.
 *     int STEM_next(struct walk *w, __u64 *frame)
 *         Returns 1 and one frame of this activation, innermost first; *frame 0 is a frame that the
 *         language itself does not show. Returns 0 if this activation has no more: unwind the
 *         loop's C frame natively, and ask again at the next such frame. Returns -1 if a frame is
 *         not readable: there are no more.
 *         If the list has more, or fewer, activations than there are loops, the walk is repeated once
 *         with list.guess = list.if_more, or list.if_less, which STEM_begin() and STEM_next() set (0: it
 *         is not repeated).
 *     int STEM_batch(struct walk *w)
 *         Puts the next frames of this activation into list.batch, if their data is at hand.
 *         Returns their number; 0: STEM_next() has to look.
 *     int STEM_outer(struct walk *w)
 *         Called when the list has ended. Returns 0 if the thread has another one, of the
 *         interpreter that runs this one, which comes next; else -1.
 *     __u64 STEM_compiled(struct walk *w)
 *         Returns the rule of the language's compiled code, which runs in the loop's own C frame; 0:
 *         none.
 *     int STEM_meet(struct walk *w)
 *         Called when w->map is a file of the language, in a process that userspace has not
 *         published: from then on the process is known to have the language. Returns 0.
 *
 * LANG_NATIVE:
 *     int STEM_unwind(struct walk *w)
 *         walk_step() by a rule of kind RULE_OWN or above.
 *
 * LANG_FRAME:
 *     int STEM_meet(struct walk *w)
 *         Called when w->map is a file of the language (or anonymous), in a process that userspace
 *         has not published. Returns 0 if the process is known to have the language from now on, or
 *         -1.
 *     __u64 STEM_frame(struct walk *w)
 *         Returns the language's frame at w's frame pointer; 0: none.
 *     __u64 STEM_frames(struct walk *w)
 *         Makes several steps at once, while their data is at hand; sets w->frame_lang to 0 at the
 *         end of the language's code. Returns the address that the window must have; LANG_MORE if it
 *         made all the steps that one call makes; or 0.
 *     int STEM_unwind(struct walk *w)
 *         walk_step() by RULE_LANG.
 *     int STEM_above(struct walk *w)
 *         Called where the thread's stack ends, if it has no frame of a LANG_FRAME language. If the thread works for
 *         code on another stack, moves w there, as walk_step() does. */
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
	int stem##_unwind(struct walk *w);                                               \
	int stem##_above(struct walk *w);
#define L(id, stem, builtin, kind, name) kind##_DECLARE(stem)
#include "bpf/languages.def"
#undef L

/* Returns whether the object has the language's functions: userspace leaves out those of languages that no process
 * has (unwinders_leave_out()), so each call of them must be guarded by this. The verifier knows the value. */
#define LANG_IS_LOADED(id) (unwind_config.loaded & 1u << FRAME_LANG_##id)

/* Returns whether a walk of this object wants the language's frames. All languages unwind their own native frames. */
#define LANG_IS_WANTED(id) (LANG_IS_LOADED(id) &&                                        \
	(!unwind_config.languages || unwind_config.languages & 1u << FRAME_LANG_##id))

/* Returns whether the object lacks the functions of the language (enum frame_lang). */
static __always_inline int lang_is_missing(__u32 lang)
{
	return !(unwind_config.loaded >> (lang & 31) & 1);
}

/* Returns whether the object lacks the functions that step out of w's frame, of a language of w->map. */
static __always_inline int lang_step_is_missing(struct walk *w)
{
	return unwind_config.loaded != LANGS_ALL && RULE_KIND(w->rule) >= RULE_LANG &&
		w->map.flags & MAPPING_LANGS((LANGS_FRAME | LANGS_NATIVE) & ~unwind_config.loaded);
}

/* Marks a stack whose frames of a language are missing, because the object lacks its functions. Returns 0. */
static __always_inline __u64 lang_lacks(struct walk *w)
{
	w->cause = UNWIND_LANG_LATE;
	return 0;
}

/* ---- LANG_LIST ---- */

#ifdef STRATA_HOST
/* A list in the walk's record replaces the process's own: host/walk.c. */
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

/* Returns the language whose interpreter loop, or compiled code, is mapped here, or 0 if there is none. */
static __always_inline __u32 list_of_mapping(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (flags & MAPPING_LANG(FRAME_LANG_##id)) return FRAME_LANG_##id;)
#include "bpf/languages.def"
#undef L
	return 0;
}

/* Returns the rule of compiled code that runs in the frames of the interpreter's loop. */
static __always_inline __u64 list_compiled(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (flags & MAPPING_LANG(FRAME_LANG_##id))                           \
		return LANG_IS_LOADED(id) ? stem##_compiled(w) : lang_lacks(w);)
#include "bpf/languages.def"
#undef L
	return 0;
}

#ifndef STRATA_HOST
/* Called when a process that userspace has not published maps a file (w->map) with these languages (1 << enum
 * frame_lang): from now on all its walks can read their lists. */
static __always_inline void list_meet(struct walk *w, __u32 languages)
{
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (LANG_IS_LOADED(id) && languages & 1u << FRAME_LANG_##id) stem##_meet(w);)
#include "bpf/languages.def"
#undef L
}
#endif

/* Begins without a frame of an interpreter's loop, with the first of the process's languages that has a list
 * in this thread. Returns 0, or -1 if there is none. */
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
	kind##_ONLY(if (LANG_IS_LOADED(id) && flags & MAPPING_LANG(FRAME_LANG_##id)) return stem##_unwind(w);)
#include "bpf/languages.def"
#undef L
	return UNWIND_NO_RULE + 1;
}

#undef NATIVE_ONLY
#undef FRAME_ONLY

/* ---- LANG_FRAME ---- */

#define NATIVE_ONLY(code)
#define FRAME_ONLY(code) code

/* Returns the frame of the mapping's language, if it is wanted, or 0 if there is none. */
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

static __always_inline int lang_above(struct walk *w)
{
	int err = UNWIND_COMPLETE + 1;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (LANG_IS_LOADED(id) && err == UNWIND_COMPLETE + 1) err = stem##_above(w);)
#include "bpf/languages.def"
#undef L
	return err;
}

static __always_inline int lang_unwind(struct walk *w)
{
	__u32 flags = w->map.flags;

#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (LANG_IS_LOADED(id) && flags & MAPPING_LANG(FRAME_LANG_##id)) return stem##_unwind(w);)
#include "bpf/languages.def"
#undef L
	return UNWIND_NO_RULE + 1;
}

#ifndef STRATA_HOST
/* Returns the first of these languages that the process has, known (1 << enum frame_lang) or found
 * now, or 0 if there is none. */
static __always_inline __u32 lang_meet(struct walk *w, __u32 languages, __u32 known)
{
#define L(id, stem, builtin, kind, name)                                                 \
	kind##_ONLY(if (languages & 1u << FRAME_LANG_##id &&                             \
		(known & 1u << FRAME_LANG_##id || (LANG_IS_LOADED(id) && !stem##_meet(w)))) return FRAME_LANG_##id;)
#include "bpf/languages.def"
#undef L
	return 0;
}
#endif

#undef LIST_ONLY
#undef NATIVE_ONLY
#undef FRAME_ONLY
