// SPDX-License-Identifier: Apache-2.0
/* variable.c - a library that only defines the variable, or, with OTHER, another one. */
struct record;

#ifdef OTHER
__thread int other_variable;
int *touch(void) { return &other_variable; }
#else
__thread struct record *otel_thread_ctx_v1;
#endif
