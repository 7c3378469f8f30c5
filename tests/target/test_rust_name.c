// SPDX-License-Identifier: Apache-2.0
/* test_rust_name.c - names of Rust, and suffixes of names, as demangle() shows them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "target/demangle.h"

static const struct {
	const char *mangled, *shown; /* NULL: not changed */
} rows[] = {
	{"_RNvCs1_1a1b", "a::b"},
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"_RNvMCs4fqI2P2rA04_4testINtB2_1SmE1f", "<test::S<u32>>::f"},
	{"_RNvXCs4fqI2P2rA04_4testNtB2_1SNtB2_1T1f", "<test::S as test::T>::f"},
	{"_RINvCs1_1a1bmE", "a::b::<u32>"},
	{"_RINvCs1_1a1bL_E", "a::b"}, /* lifetimes are not shown */
	{"_RNCNvCs1_1a1b0", "a::b::{closure#0}"},
	{"_RNCNvCs1_1a1bs_0", "a::b::{closure#1}"},
	{"_RNvCs1_1au8gdel_5qa", "a::g\xc3\xb6" "del"},
	{"_RINvCs1_1a1bKj7b_E", "a::b::<123>"},
	{"_RINvCs1_1a1bKb1_E", "a::b::<true>"},
	{"_RINvCs1_1a1bTmtERhE", "a::b::<(u32, u16), &u8>"},
	{"_RINvCs1_1a1bDINtC4core2FnTEEp6OutputmEL_E", "a::b::<dyn core::Fn<(), Output = u32>>"},
	{"_RNvCs1_1a1bCs2_1c", "a::b"}, /* the crate that needed the copy */
	{"_RNvCs1_1a1b.llvm.55", "a::b"},
	{"_RNvCs1_1a1b.cold", "a::b [clone .cold]"},
	{"_RNvB_1a", NULL},
	{"_RNvCs1_1a9b", NULL},
	{"_R", NULL},
	{"_ZN1r4work17h0123456789abcdefE", "r::work"},
	{"_ZN34_$LT$r..Sq$u20$as$u20$r..Shape$GT$4area17h0123456789abcdefE", "<r::Sq as r::Shape>::area"},
	{"_ZN3foo3barEv.llvm.123", "foo::bar()"},
	{"_Z3foov.cold", "foo() [clone .cold]"},
	{"foo.llvm.12", "foo"},
	{"foo.llvm.x", NULL},
	{"foo.cold", NULL},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *seen = demangle(rows[i].mangled);

		if ((seen || rows[i].shown) && (!seen || !rows[i].shown || strcmp(seen, rows[i].shown) != 0))
			fprintf(stderr, "%s:\n", rows[i].mangled);
		CHECK_STR(seen, rows[i].shown);
		free(seen);
	}
	return failed;
}
