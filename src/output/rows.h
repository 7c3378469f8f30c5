/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the state of -f rows. */
#pragma once

struct rows;

void rows_free(struct rows *r);
