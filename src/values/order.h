// SPDX-License-Identifier: Apache-2.0
/* order.h - the order in which the entries of a map are shown. */
#pragma once

struct map_content;

/* Sorts the entries: ascending by value, then by key (see struct map_content). Sets their numbers. */
void entries_sort(struct map_content *c);
