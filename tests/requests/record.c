// SPDX-License-Identifier: Apache-2.0
/* record.c - the threads' variable. In the program or in a library, by all ways to access a thread-local variable. With
 * LARGE, the library has so many variables that they do not fit into the memory that the C library keeps ready; with
 * ALIGNED, the program's variables are aligned. */
#include "record.h"

#ifdef LABELS
__thread void *custom_labels_current_set;
#define otel_thread_ctx_v1 custom_labels_current_set
#elif defined(USE)
extern __thread struct record *otel_thread_ctx_v1;
#else
__thread struct record *otel_thread_ctx_v1;
#endif
#ifdef ALIGNED
__thread char aligned __attribute__((aligned(64)));
#endif
#ifdef LARGE
__thread char large[240 * 1024];
#endif

void set_record(void *r)
{
#ifdef LARGE
	large[0] = 1;
#endif
#ifdef ALIGNED
	aligned = 1;
#endif
	otel_thread_ctx_v1 = r;
}
