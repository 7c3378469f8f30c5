/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - reports to the service manager that started strata: systemd's protocol, a datagram of lines
 * "NAME=value" to the socket $NOTIFY_SOCKET (systemd v257, man/sd_notify.xml). strata agent takes the same from its
 * units, by a socket that they inherit, so that no other process can send. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The variable with the number of the socket that strata agent gives to its units. */
#define NOTIFY_FD "STRATA_NOTIFY_FD"
enum { NOTIFY_FD_MAX = 9 };

/* Reads the environment, and removes all variables, so that commands do not inherit them. Returns false if no manager
 * waits for messages. */
bool notify_open(void);
/* Returns the nanoseconds after which the manager wants WATCHDOG=1 again, or 0 if it does not. Half of it is a good
 * interval. */
uint64_t notify_watchdog(void);
/* Sends lines. Failures are ignored: the manager may be gone. */
void notify_send(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
