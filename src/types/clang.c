// SPDX-License-Identifier: Apache-2.0
/* clang.c - loads libclang. Loading takes 45 ms, more than compiling a script. */
#include "clang.h"

#include <stddef.h>
#include <string.h>

#include "base/library.h"
#include "base/owner.h"

/* The names in Debian and Fedora, for the LLVM versions with which strata can be built. */
static const char *const sonames[] = {
	"libclang-19.so.1", "libclang.so.19.1", "libclang-20.so.1", "libclang.so.20.1",
	"libclang-21.so.1", "libclang.so.21.1", "libclang-18.so.1", "libclang.so.18.1",
};

static bool load(struct clang *c)
{
	const struct {
		const char *name;
		void *at;
	} symbols[] = {
#define ROW(ret, name, params) {"clang_" #name, &c->name},
		CLANG_FUNCTIONS(ROW)
#undef ROW
	};

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *p = library_symbol(c->library, symbols[i].name);

		if (!p)
			return false;
		memcpy(symbols[i].at, &p, sizeof(p));
	}
	return true;
}

enum clang_state clang_open(struct clang *c)
{
	*c = (struct clang){};
	if (libraries_are_linked)
		return CLANG_LEFT_OUT;
	for (size_t i = 0; i < ARRAY_SIZE(sonames); i++) {
		c->library = library_open(sonames[i]);
		if (c->library && load(c))
			return CLANG_OPEN;
		if (c->library)
			library_close(c->library);
	}
	return CLANG_MISSING;
}
