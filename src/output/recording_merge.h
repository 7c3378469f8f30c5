/* SPDX-License-Identifier: Apache-2.0 */
/* recording_merge.h - several recordings as one: of several hosts, or of several times. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct recording;

/* Adds up maps of the same name, kind and key: values of equal keys are added, min() and max() are compared. Of a file,
 * all windows of a map count, or, without windows, its last print. Maps that differ in unit, divisor or columns stay
 * apart. Plain numbers have no sum: their keys get the host. by_host: all keys get the host, as their first part.
 * names: of the files, for recordings without a host. Texts are kept, after the host. Returns NULL after an error,
 * which is reported. */
struct recording *recording_merge(struct recording *const *list, const char *const *names, size_t n, bool by_host);
