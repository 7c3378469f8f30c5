// SPDX-License-Identifier: Apache-2.0
/* language.h - a language for testing the parser room alone: a few builtins and
 * probe types with the names and signatures of the real ones, on no machine. */
#pragma once
#include "parser/parser.h"

extern const struct language test_language;
