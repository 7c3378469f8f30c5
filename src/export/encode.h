/* SPDX-License-Identifier: Apache-2.0 */
/* encode.h - OTLP's JSON as protobuf, which all receivers take; some take nothing else. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "message.h"

/* Appends the request of a kind. Returns false if the text is not of the form that -f otlp writes, or json-c is not
 * installed; then out has a part of it. */
bool encode_request(enum message_kind k, const char *json, size_t n, struct str *out);
