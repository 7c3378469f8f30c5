/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - strata's own variables of the environment. strata(8), ENVIRONMENT, describes them. */
#pragma once

/* Warns about each variable that begins with STRATA_ and is unknown, since it has no effect. */
void environment_check(void);
