// SPDX-License-Identifier: Apache-2.0
/* pages.c - see pages.h. Metrics have the conventional units: seconds and bytes. */
#include "pages.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/owner.h"
#include "base/str.h"
#include "export/exporter.h"
#include "memory.h"
#include "process.h"
#include "series.h"
#include "unit.h"

struct row {
	const char *name, *type, *help;
	double (*value)(const struct unit *u);
};

static double is_up(const struct unit *u)
{
	return u->state == UNIT_UP;
}

static double lost(const struct unit *u)
{
	return (double)unit_sums(u).lost;
}

static double incomplete(const struct unit *u)
{
	return (double)unit_sums(u).incomplete;
}

static double long_lines(const struct unit *u)
{
	return (double)unit_sums(u).dropped;
}

static double share(const struct unit *u)
{
	return u->share;
}

static double memory(const struct unit *u)
{
	return (double)unit_memory(u);
}

static double refused(const struct unit *u)
{
	return u->current ? (double)u->current->refused : 0;
}

static double thin(const struct unit *u)
{
	return u->old_thin ? u->old_thin : 1;
}

static double starts(const struct unit *u)
{
	return (double)u->starts;
}

static double restarts(const struct unit *u)
{
	return (double)u->restarts;
}

static double kills(const struct unit *u)
{
	return (double)u->kills;
}

static double reloads(const struct unit *u)
{
	return (double)u->reloads;
}

static double failures(const struct unit *u)
{
	return (double)u->failures;
}

static double lines(const struct unit *u)
{
	return (double)u->lines;
}

static double age(const struct unit *u)
{
	return u->last_line ? (double)(clock_ns(CLOCK_MONOTONIC) - u->last_line) / 1e9 : 0;
}

static double nseries(const struct unit *u)
{
	return (double)series_count(u->series);
}

static double dropped(const struct unit *u)
{
	return (double)series_dropped(u->series);
}

static const struct row rows[] = {
	{"strata_unit_up", "gauge", "1 if the probes of the unit are attached.", is_up},
	{"strata_unit_starts_total", "counter", "Processes that were started for the unit.", starts},
	{"strata_unit_restarts_total", "counter", "Starts after a crash.", restarts},
	{"strata_unit_kills_total", "counter",
		"Processes that hung and were killed: each lost its last window.", kills},
	{"strata_unit_reloads_total", "counter", "New versions of the script that took over from a running one.",
		reloads},
	{"strata_unit_load_failures_total", "counter", "Versions of the script that could not be started.", failures},
	{"strata_unit_cpu_share", "gauge", "CPUs that the unit used in its last window, BPF programs included.", share},
	{"strata_unit_memory_bytes", "gauge",
		"Pages of the unit's processes, shared ones by shares, and its tables in the kernel.", memory},
	{"strata_unit_files_refused", "gauge",
		"Programs and libraries without tables, because memory is short: their stacks may end early.", refused},
	{"strata_unit_thin", "gauge", "The unit takes one sample or event in so many, which counts as many.", thin},
	{"strata_lost_total", "counter", "Events and updates of maps that were lost.", lost},
	{"strata_stacks_incomplete_total", "counter", "Stacks that could not be walked to their end.", incomplete},
	{"strata_unit_records_total", "counter", "Lines of OTLP that the unit has printed.", lines},
	{"strata_unit_record_age_seconds", "gauge", "Seconds since the unit's last line of OTLP.", age},
	{"strata_unit_lines_dropped_total", "counter", "Lines of the unit that were too long.", long_lines},
	{"strata_unit_series", "gauge", "Series of the unit's maps on this page.", nseries},
	{"strata_unit_series_dropped_total", "counter", "Points without a series, because there were too many.",
		dropped},
};

static void print_head(const char *name, const char *type, const char *help, struct str *out)
{
	str_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_rows(const struct pages *p, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_head(rows[i].name, rows[i].type, rows[i].help, out);
		for (const struct unit *u = *p->units; u; u = u->next_unit)
			str_addf(out, "%s{unit=\"%s\"} %.15g\n", rows[i].name, u->name, rows[i].value(u));
	}
}

static void print_cpu(const struct pages *p, struct str *out)
{
	print_head("strata_unit_cpu_seconds_total", "counter",
		"CPU time of the unit's process and of its BPF programs.", out);
	for (const struct unit *u = *p->units; u; u = u->next_unit) {
		struct unit_sums s = unit_sums(u);

		str_addf(out, "strata_unit_cpu_seconds_total{unit=\"%s\",where=\"user\"} %.9f\n", u->name,
			(double)s.user_ns / 1e9);
		if (p->stats)
			str_addf(out, "strata_unit_cpu_seconds_total{unit=\"%s\",where=\"bpf\"} %.9f\n", u->name,
				(double)s.bpf_ns / 1e9);
	}
}

static void print_number(const char *name, const char *type, const char *help, uint64_t n, struct str *out)
{
	print_head(name, type, help, out);
	str_addf(out, "%s %" PRIu64 "\n", name, n);
}

static void print_memory(const struct pages *p, struct str *out)
{
	const struct memory *m = p->memory;
	uint64_t all = m->own.bytes;

	for (const struct unit *u = *p->units; u; u = u->next_unit)
		all += unit_memory(u);
	print_number("strata_agent_memory_bytes", "gauge", "Memory of the agent and its units together.", all, out);
	print_number("strata_agent_memory_limit_bytes", "gauge", "The setting memory_all; 0: no limit.", m->limit, out);
	print_number("strata_agent_memory_over_seconds_total", "counter",
		"Seconds in which the agent and its units had more.", m->over, out);
}

static void print_own(const struct pages *p, struct str *out)
{
	struct rusage r;

	print_head("strata_agent_start_time_seconds", "gauge", "Unix time of the start of the agent.", out);
	str_addf(out, "strata_agent_start_time_seconds %.3f\n", (double)p->started / 1e9);
	print_head("strata_agent_reloads_total", "counter", "Scans of the directory by a signal or a change.", out);
	str_addf(out, "strata_agent_reloads_total %" PRIu64 "\n", p->reloads);
	print_head("strata_agent_reload_failures_total", "counter", "Reloads whose agent.conf had an error.", out);
	str_addf(out, "strata_agent_reload_failures_total %" PRIu64 "\n", p->reload_failures);
	if (!getrusage(RUSAGE_SELF, &r)) {
		print_head("strata_agent_cpu_seconds_total", "counter", "CPU time of the agent itself.", out);
		str_addf(out, "strata_agent_cpu_seconds_total %.6f\n", (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
			(double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6);
	}
}

static void print_export(const struct pages *p, struct str *out)
{
	struct export_counts c;

	if (!p->exporter)
		return;
	exporter_counts(p->exporter, &c);
	print_number("strata_export_sent_total", "counter", "Requests that the receiver took.", c.sent, out);
	print_number("strata_export_sent_bytes_total", "counter",
		"Bytes of the bodies of sent requests.", c.sent_bytes, out);
	print_number("strata_export_retried_total", "counter", "Attempts that have to be repeated.", c.retried, out);
	print_number("strata_export_rejected_total", "counter", "Records that the receiver rejected.", c.rejected, out);
	print_number("strata_export_queue_requests", "gauge", "Requests that wait in memory.", c.queued, out);
	print_number("strata_export_queue_bytes", "gauge",
		"Bytes of requests that wait in memory.", c.queue_bytes, out);
	print_number("strata_export_spool_requests", "gauge", "Requests that wait on the disk.", c.spooled, out);
	print_number("strata_export_spool_bytes", "gauge",
		"Bytes of requests that wait on the disk.", c.spool_bytes, out);
	print_head("strata_export_dropped_total", "counter", "Requests that were lost, by reason.", out);
	for (int i = 0; i < EXPORT_DROP_MAX; i++)
		str_addf(out, "strata_export_dropped_total{reason=\"%s\"} %" PRIu64 "\n", export_drop_label(i),
			c.dropped[i]);
}

static void print_metrics(const struct pages *p, struct str *out)
{
	print_own(p, out);
	print_memory(p, out);
	print_rows(p, out);
	print_cpu(p, out);
	print_export(p, out);
	for (const struct unit *u = *p->units; u; u = u->next_unit)
		series_print(u->series, out);
}

void pages_units(const struct pages *p, struct str *out)
{
	for (const struct unit *u = *p->units; u; u = u->next_unit) {
		size_t n = u->why.len;

		str_addf(out, "%s: %s", u->name, unit_state_name(u->state));
		while (n && u->why.data[n - 1] == '\n')
			n--;
		if (n)
			str_addf(out, "%s%.*s", u->state == UNIT_UP ? "; " : ": ", (int)n, u->why.data);
		str_addc(out, '\n');
	}
}

/* Healthy: a unit is up, or none shall be. Ready: all are up that shall be. */
static int health(const struct pages *p, bool all, struct str *out)
{
	unsigned up = 0, wanted = 0;

	for (const struct unit *u = *p->units; u; u = u->next_unit) {
		bool ended = u->state == UNIT_DISABLED || u->state == UNIT_ENDED;

		up += u->state == UNIT_UP;
		wanted += !ended;
	}
	pages_units(p, out);
	if (!wanted)
		str_add(out, *p->units ? "" : "no units\n");
	return !wanted || (all ? up == wanted : up) ? 200 : 503;
}

int pages_print(void *arg, const char *path, struct str *out, const char **ret_type)
{
	const struct pages *p = arg;

	if (!strcmp(path, "/metrics")) {
		*ret_type = "text/plain; version=0.0.4; charset=utf-8";
		print_metrics(p, out);
		return 200;
	}
	if (!strcmp(path, "/healthz") || !strcmp(path, "/readyz"))
		return health(p, path[1] == 'r', out);
	if (strcmp(path, "/") != 0)
		return 404;
	str_add(out, "strata agent: /metrics /healthz /readyz\n\n");
	pages_units(p, out);
	return 200;
}
