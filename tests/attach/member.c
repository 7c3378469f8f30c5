// SPDX-License-Identifier: Apache-2.0
/* member.c - a library that tests/attach/forms.py stores in an archive and maps from there. */
#include "usdt.h"

int answer(int a);
int answer(int a)
{
	PROBE("member", "asked", "0", "-4@%0", "r"(a));
	return a + 1;
}
