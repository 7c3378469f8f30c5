// SPDX-License-Identifier: Apache-2.0
/* notify.c - a datagram to $NOTIFY_SOCKET, which is a path or, after an @, an abstract name, or to the socket that
 * strata agent opened. */
#include "notify.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "owner.h"
#include "str.h"

static struct sockaddr_un manager;
static socklen_t manager_size; /* 0: there is no manager */
static int inherited = -1;      /* socket of the agent */
static uint64_t watchdog_ns;

static bool read_address(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	if (n < 2 || n >= sizeof(manager.sun_path) || (*name != '/' && *name != '@'))
		return false;
	manager.sun_family = AF_UNIX;
	memcpy(manager.sun_path, name, n);
	if (*name == '@')
		manager.sun_path[0] = '\0';
	manager_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	return true;
}

/* WATCHDOG_PID names the process that shall send; a wrapper's variables may be those of another one. */
static void read_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (usec && (!pid || strtol(pid, NULL, 10) == getpid()))
		watchdog_ns = strtoull(usec, NULL, 10) * 1000;
}

/* Commands do not inherit it. */
static bool take_inherited(const char *text)
{
	char *end;
	long fd = text ? strtol(text, &end, 10) : -1;
	int type;
	socklen_t size = sizeof(type);

	if (fd <= STDERR_FILENO || fd > NOTIFY_FD_MAX || *end || getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return false;
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	inherited = (int)fd;
	return true;
}

bool notify_open(void)
{
	bool is_there = take_inherited(getenv(NOTIFY_FD)) || read_address(getenv("NOTIFY_SOCKET"));

	if (is_there)
		read_watchdog();
	unsetenv(NOTIFY_FD);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return is_there;
}

uint64_t notify_watchdog(void)
{
	return watchdog_ns;
}

void notify_send(const char *fmt, ...)
{
	_cleanup_(closep) int fd = manager_size ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	struct str text = {};
	va_list ap;

	if (fd < 0 && inherited < 0)
		return;
	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);
	if (inherited >= 0)
		send(inherited, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	else
		sendto(fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&manager, manager_size);
	str_done(&text);
}
