// SPDX-License-Identifier: Apache-2.0
/* show_shown.c - numbers that stand for a text: times, users, errors, signals; and network addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/type.h"
#include "show.h"
#include "syscalls.h"
#include "target/target.h"

/* ---- time --------------------------------------------------------------- */

enum { SECOND = 1000000000 };

/* Replaces the conversions that strftime(3) does not have by their digits. */
static void replace_parts(const char *format, uint64_t ns, struct str *out)
{
	for (; *format; format++) {
		if (*format != '%' || !format[1]) {
			str_addc(out, *format);
			continue;
		}
		format++;
		if (*format == 'f')
			str_addf(out, "%06" PRIu64, ns / 1000);
		else if (*format == 'k')
			str_addf(out, "%09" PRIu64, ns);
		else if (*format == 'l')
			str_addf(out, "%03" PRIu64, ns / 1000000);
		else
			str_addf(out, "%%%c", *format);
	}
}

void show_time(const char *format, uint64_t ns, struct str *out)
{
	time_t seconds = (time_t)(ns / SECOND);
	struct str parts = {};
	struct tm tm;
	char text[4096];

	replace_parts(format, ns % SECOND, &parts);
	if (parts.len && localtime_r(&seconds, &tm) &&
		strftime(text, sizeof(text), str_text(&parts), &tm))
		str_add(out, text);
	str_done(&parts);
}

/* ---- all kinds ---------------------------------------------------------- */

static void show_user(uint32_t uid, struct str *out)
{
	char buf[4096];
	struct passwd pw, *found = NULL;

	if (!getpwuid_r(uid, &pw, buf, sizeof(buf), &found) && found)
		str_add_safe(out, pw.pw_name, strlen(pw.pw_name));
	else
		str_addf(out, "%u", uid);
}

static void show_error(int number, struct str *out)
{
	const char *text = strerrordesc_np(number < 0 ? -number : number);

	str_add(out, text ? text : "Unknown error");
}

static void show_signal(int number, struct str *out)
{
	const char *text = number > 0 && number < NSIG ? sigdescr_np(number) : NULL;

	if (text)
		str_add(out, text);
	else if (number >= SIGRTMIN && number <= SIGRTMAX)
		str_addf(out, "Real-time signal %d", number - SIGRTMIN);
	else
		str_add(out, "N/A");
}

static void show_mac(uint64_t v, struct str *out)
{
	for (int i = 0; i < 6; i++, v >>= 8)
		str_addf(out, i ? ":%02X" : "%02X", (unsigned)(v & 0xff));
}

void show_inet(const uint8_t *data, struct str *out)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t family;

	memcpy(&family, data, sizeof(family));
	if (inet_ntop((int)family, data + sizeof(family), text, sizeof(text)))
		str_add(out, text);
	else
		str_addf(out, "[address family %u]", family);
}

static void show_cgroup(const struct show *s, uint64_t id, const char *hierarchies, struct str *out)
{
	struct str path = {};

	target_cgroup_path(s->target, id, hierarchies, &path);
	str_add_safe(out, str_text(&path), path.len);
	str_done(&path);
}

/* The name of a container in a pod is POD/NAME. */
static void show_pod(const char *container, struct str *out)
{
	const char *slash = strchr(container, '/');

	str_addn(out, container, slash ? (size_t)(slash - container) : 0);
}

void show_shown(const struct show *s, const struct type *t, int64_t v, struct str *out)
{
	switch (t->shown.as) {
	case SHOWN_TIME:
		show_time(t->shown.format,
			(uint64_t)v + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME), out);
		break;
	case SHOWN_USER:
		show_user((uint32_t)v, out);
		break;
	case SHOWN_ERROR:
		show_error((int)v, out);
		break;
	case SHOWN_SIGNAL:
		show_signal((int)v, out);
		break;
	case SHOWN_CGROUP:
		show_cgroup(s, (uint64_t)v, t->shown.format, out);
		break;
	case SHOWN_CONTAINER:
		str_add(out, target_container(s->target, (uint64_t)v));
		break;
	case SHOWN_POD:
		show_pod(target_container(s->target, (uint64_t)v), out);
		break;
	case SHOWN_IN_CONTAINER:
		str_add(out, target_container_is(s->target, (uint64_t)v, t->shown.format) > 0 ? "true" : "false");
		break;
	case SHOWN_SYSCALL:
		str_add(out, syscall_name(v) ? syscall_name(v) : "Unknown syscall");
		break;
	case SHOWN_MAC:
		show_mac((uint64_t)v, out);
		break;
	}
}
