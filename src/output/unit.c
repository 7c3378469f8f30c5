// SPDX-License-Identifier: Apache-2.0
/* unit.c - see unit.h. */
#include "unit.h"

#include <string.h>

#include "base/owner.h"
#include "base/str.h"

enum unit unit_of(const char *name)
{
	static const struct {
		const char *end;
		enum unit unit;
	} ends[] = {
		{"bytes", UNIT_BYTES}, {"ns", UNIT_NS}, {"us", UNIT_US}, {"ms", UNIT_MS}, {"seconds", UNIT_S},
	};
	const char *last = strrchr(name, '_');

	last = last ? last + 1 : name;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (!strcmp(last, ends[i].end))
			return ends[i].unit;
	return UNIT_NONE;
}

/* Three digits, but no point in a number of whole units. */
static void add(double value, bool whole, const char *unit, struct str *out)
{
	int digits = whole || value >= 100 ? 0 : value >= 10 ? 1 : 2;

	str_addf(out, "%.*f %s", digits, value, unit);
}

static void add_time(double us, struct str *out)
{
	if (us < 1)
		add(us * 1000, true, "ns", out);
	else if (us < 1000)
		add(us, us == (double)(long)us, "us", out);
	else if (us < 1e6)
		add(us / 1e3, false, "ms", out);
	else
		add(us / 1e6, false, "s", out);
}

static void add_bytes(double bytes, struct str *out)
{
	if (bytes < 1000)
		add(bytes, true, "B", out);
	else if (bytes < 1e6)
		add(bytes / 1e3, false, "KB", out);
	else if (bytes < 1e9)
		add(bytes / 1e6, false, "MB", out);
	else
		add(bytes / 1e9, false, "GB", out);
}

void unit_add(enum unit unit, double value, struct str *out)
{
	double size = value < 0 ? -value : value;

	if (value < 0)
		str_addc(out, '-');
	switch (unit) {
	case UNIT_NONE:
		str_addf(out, "%.0f", size);
		break;
	case UNIT_NS:
		add_time(size / 1e3, out);
		break;
	case UNIT_US:
		add_time(size, out);
		break;
	case UNIT_MS:
		add_time(size * 1e3, out);
		break;
	case UNIT_S:
		add_time(size * 1e6, out);
		break;
	case UNIT_BYTES:
		add_bytes(size, out);
		break;
	}
}
