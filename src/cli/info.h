// SPDX-License-Identifier: Apache-2.0
/* info.h - --info: what this kernel and this build can do. */
#pragma once
#include <stdio.h>

struct target;

void info_print(struct target *t, FILE *out);
