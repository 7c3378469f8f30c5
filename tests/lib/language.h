// SPDX-License-Identifier: Apache-2.0
/* language.h - a language for tests of the parser (src/parser/) only: a few builtins and
 * probe types with the names and signatures of the real ones, without a real machine. */
#pragma once
#include "parser/parser.h"

extern const struct language test_language;
