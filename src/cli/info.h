// SPDX-License-Identifier: Apache-2.0
/* info.h - --info: the features of this kernel and this build. */
#pragma once
#include <stdio.h>

struct target;

void info_print(struct target *t, FILE *out);
