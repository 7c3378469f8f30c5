/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - the version that -V prints. */
#pragma once

const char *version(void); /* "0.1.0", or "0.1.0 (v0.1.0-12-g5c58fa9)" between versions */
