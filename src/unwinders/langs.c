// SPDX-License-Identifier: Apache-2.0
/* langs.c - the languages, from their list. */
#include "lang.h"

const struct lang *const langs[FRAME_LANGS] = {
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = &lang_##stem,
#include "bpf/languages.def"
#undef L
};
