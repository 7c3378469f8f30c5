/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h - the observed resource's attributes for OpenTelemetry, from the environment: OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES (specification v1.60.0, resource/sdk.md: percent-encoded "key=value,key=value"). */
#pragma once
#include <stdbool.h>

struct str;

/* Finds the next pair in *rest, which begins as a writable copy of OTEL_RESOURCE_ATTRIBUTES. The texts are parts of
 * it. Returns false at the end. */
bool resource_next(char **rest, char **ret_key, char **ret_value);
/* Appends the value of a key. Returns false if the environment has none, and appends nothing. OTEL_SERVICE_NAME is
 * before service.name of the pairs. */
bool resource_value(const char *key, struct str *out);
