/* SPDX-License-Identifier: Apache-2.0 */
/* shorten.h - long names of C++ functions in pictures. */
#pragma once

struct recording;
struct str;

/* Appends the name without the arguments of templates and the parameters of functions:
 * "std::vector<int, std::allocator<int> >::push_back(int const&)" is "std::vector<..>::push_back". */
void shorten_name(const char *name, struct str *out);
/* Shortens the long names of native functions in the recording, so that functions which differ only there are one. */
void shorten_recording(struct recording *r);
