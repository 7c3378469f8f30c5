// SPDX-License-Identifier: Apache-2.0
/* function.c - places in a file: the function of an address, and where a segment is mapped. */
#include <stddef.h>

#include "base/allowance.h"
#include "base/log.h"
#include "file.h"
#include "target/elf.h"
#include "target/fde.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/native/unframed.h"

static bool range_at(const struct eh_ranges *ranges, uint64_t vaddr, uint64_t *ret_start)
{
	size_t lo = 0, hi = ranges->len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (ranges->data[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || vaddr >= ranges->data[lo - 1].end)
		return false;
	*ret_start = ranges->data[lo - 1].start;
	return true;
}

/* Needs as much memory as a table: a unit of strata agent that has no room reads it later. */
static void read_unframed(struct file *f)
{
	static bool reported;
	struct eh_rows rows;
	bool is_turn = allowance_begin(), fits = is_turn && allowance_fits(table_needs(f->elf));

	if (fits && !ehframe_read(f->elf, &rows)) {
		unframed_functions(f->elf, &rows, &f->unframed);
		eh_rows_done(&rows);
	}
	if (is_turn)
		allowance_end();
	f->unframed_read = fits;
	if (!fits && !reported)
		log_warn("memory: no room to look for functions without symbols in %s: frames in them have addresses "
			"only", f->path);
	reported |= !fits;
}

/* A language that has tables of its own names its code. */
static bool unframed_function(struct file *f, uint64_t vaddr, uint64_t *ret_start)
{
	if (!f->unframed_read && !file_languages(f))
		read_unframed(f);
	return range_at(&f->unframed, vaddr, ret_start);
}

bool file_function(struct file *f, uint64_t vaddr, uint64_t *ret_start)
{
	int found = f->elf ? fde_find_function(f->elf, vaddr, ret_start) : 0;

	if (found > 0 || !f->elf)
		return found > 0;
	if (found < 0 && !f->functions_read) {
		ehframe_ranges(f->elf, &f->functions);
		f->functions_read = true;
	}
	return range_at(&f->functions, vaddr, ret_start) || unframed_function(f, vaddr, ret_start);
}

/* The bias depends on the segment that contains the mapping's bytes: segments may have different distances
 * from their offsets in the file. */
bool file_bias(const struct file *f, uint64_t start, uint64_t offset, uint64_t *ret)
{
	const struct elf_segment *s;
	size_t n = elf_segments(f->elf, &s);

	for (size_t i = 0; i < n; i++) {
		uint64_t first = s[i].offset & ~4095ULL;

		if (!s[i].exec || offset < first || offset >= s[i].offset + s[i].filesz)
			continue;
		*ret = start - (s[i].vaddr + (offset - s[i].offset));
		return true;
	}
	return false;
}
