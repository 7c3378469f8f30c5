// SPDX-License-Identifier: Apache-2.0
/* show_gfp.c - the flags of an allocation of kernel memory (gfp_t) by name: %gr.
 *
 * include/linux/gfp_types.h of Linux 6.18: the bits below 24 are older, those above depend on the kernel's
 * configuration. Bits without a name are printed as a number. */
#include <inttypes.h>

#include "base/owner.h"
#include "base/str.h"
#include "show.h"

/* Names of several flags come before each of these flags. */
static const struct {
	uint64_t flags;
	const char *name;
} names[] = {
	{0x1c24ca, "GFP_TRANSHUGE"},
	{0x1c20ca, "GFP_TRANSHUGE_LIGHT"},
	{0x100cca, "GFP_HIGHUSER_MOVABLE"},
	{0x100cc2, "GFP_HIGHUSER"},
	{0x100cc0, "GFP_USER"},
	{0x400cc0, "GFP_KERNEL_ACCOUNT"},
	{0xcc0, "GFP_KERNEL"},
	{0xc40, "GFP_NOFS"},
	{0x820, "GFP_ATOMIC"},
	{0xc00, "GFP_NOIO"},
	{1 << 0, "GFP_DMA"},
	{1 << 1, "__GFP_HIGHMEM"},
	{1 << 2, "GFP_DMA32"},
	{1 << 3, "__GFP_MOVABLE"},
	{1 << 4, "__GFP_RECLAIMABLE"},
	{1 << 5, "__GFP_HIGH"},
	{1 << 6, "__GFP_IO"},
	{1 << 7, "__GFP_FS"},
	{1 << 8, "__GFP_ZERO"},
	{1 << 10, "__GFP_DIRECT_RECLAIM"},
	{1 << 11, "__GFP_KSWAPD_RECLAIM"},
	{1 << 12, "__GFP_WRITE"},
	{1 << 13, "__GFP_NOWARN"},
	{1 << 14, "__GFP_RETRY_MAYFAIL"},
	{1 << 15, "__GFP_NOFAIL"},
	{1 << 16, "__GFP_NORETRY"},
	{1 << 17, "__GFP_MEMALLOC"},
	{1 << 18, "__GFP_COMP"},
	{1 << 19, "__GFP_NOMEMALLOC"},
	{1 << 20, "__GFP_HARDWALL"},
	{1 << 21, "__GFP_THISNODE"},
	{1 << 22, "__GFP_ACCOUNT"},
	{1 << 23, "__GFP_ZEROTAGS"},
	{1 << 24, "__GFP_SKIP_ZERO"},
	{1 << 25, "__GFP_SKIP_KASAN"},
	{1 << 26, "__GFP_NO_OBJ_EXT"},
};

void show_gfp(uint64_t flags, struct str *out)
{
	uint64_t left = flags;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if ((left & names[i].flags) != names[i].flags)
			continue;
		str_addf(out, "%s%s", left == flags ? "" : "|", names[i].name);
		left &= ~names[i].flags;
	}
	if (left && left != flags)
		str_addc(out, '|');
	if (left)
		str_addf(out, "0x%" PRIx64, left);
	else if (!flags)
		str_addc(out, '0');
}
