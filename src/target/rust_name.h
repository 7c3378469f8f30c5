// SPDX-License-Identifier: Apache-2.0
/* rust_name.h - names of Rust functions. Both schemes are in use: the standard library has v0 names, programs before
 * 1.97 the older ones, which look like C++ (doc.rust-lang.org, rustc book, "Symbol Mangling"). */
#pragma once
#include <stdbool.h>

struct str;

/* Appends a v0 name ("_R..") in the form of its source, without hashes and the crate that made the copy. Returns false,
 * without a change, if it is not one. Names are untrusted: depth, steps and length have limits. */
bool rust_name(const char *mangled, struct str *out);
/* Undoes the escapes of an older name that was demangled as C++: "$LT$" is "<", ".." is "::". Works in place, and drops
 * the hash at the end. Returns whether it was such a name. */
bool rust_old_name(char *name);
