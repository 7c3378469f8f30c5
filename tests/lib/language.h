// SPDX-License-Identifier: Apache-2.0
/* language.h - a language to test the parser (src/parser/) alone: a few builtins and
 * probe types with the names and signatures of the real ones, and no real machine. */
#pragma once
#include "parser/parser.h"

extern const struct language test_language;
