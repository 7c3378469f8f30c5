// SPDX-License-Identifier: Apache-2.0
/* probe_filter.c - the regular expressions of --probe-filter. */
#include "probe_filter.h"

#include "base/str.h"

/* Replaces \d, which bpftrace supports but regcomp() does not. */
int probe_filter_compile(regex_t *ret, const char *text)
{
	struct str posix = {};
	int r;

	for (; *text; text++) {
		bool escape = text[0] == '\\' && text[1];

		if (escape && text[1] == 'd')
			str_add(&posix, "[0-9]");
		else
			str_addn(&posix, text, 1 + escape);
		text += escape;
	}
	r = regcomp(ret, str_text(&posix), REG_EXTENDED | REG_NOSUB);
	str_done(&posix);
	return r;
}
