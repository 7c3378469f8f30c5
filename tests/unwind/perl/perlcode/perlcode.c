// SPDX-License-Identifier: Apache-2.0
/* perlcode.c - any bytes as the record of a Perl sub from the ring buffer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/perl/perl.h"
#include "unwinders/unwinders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perl_codes *c = perl_codes_new();
	size_t whole = offsetof(struct perl_code_record, file) + size % 1500;
	struct perl_code_record *r;
	struct frame_name n;

	/* Exactly the record's size, so that the sanitizer reports reads after it. */
	r = calloc(1, whole);
	memcpy(r, data, size < whole ? size : whole);
	r->flags &= 1;
	r->kind &= 7;
	r->name_size &= 1023;
	r->package_size &= 1023;
	r->file_size &= 2047;
	perl_codes_record(c, r, whole);
	if (perl_codes_name(c, FRAME_PERL(r->code & ((1ULL << PERL_CODE_BITS) - 1), size), &n) &&
		(strlen(n.name) > 4 * PERL_NAME_MAX + 2 || strlen(n.file) > PERL_FILE_MAX ||
			n.line != (size & 0xfffff)))
		abort();
	free(r);
	perl_codes_free(c);
	return 0;
}
