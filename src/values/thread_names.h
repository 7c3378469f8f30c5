/* SPDX-License-Identifier: Apache-2.0 */
/* thread_names.h - the names that languages give to threads, of processes that still run. */
#pragma once

struct show;
struct thread_names;

struct thread_names *thread_names_new(const struct show *s); /* NULL: no memory, or no unwinders */
void thread_names_free(struct thread_names *t);
/* Returns a thread's name ("worker 1"), or NULL. t owns it. A process is read when its first thread is asked for. */
const char *thread_names_get(struct thread_names *t, int tid);
