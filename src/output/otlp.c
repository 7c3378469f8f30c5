// SPDX-License-Identifier: Apache-2.0
/* otlp.c - -f otlp: a line of OTLP/JSON for each print, as OpenTelemetry's file exporter writes them: maps keyed by
 * stacks are profiles, other maps are metrics, text and losses are log records. Each line can be posted to a
 * collector. */
#include "otlp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/owner.h"
#include "base/str.h"
#include "output.h"
#include "recording.h"
#include "resource.h"
#include "text.h"
#include "totals.h"
#include "values/entries.h"

/* SeverityNumber of logs.proto. */
enum severity { SEVERITY_INFO = 9, SEVERITY_WARN = 13, SEVERITY_ERROR = 17 };

static void add_text(struct str *out, const char *text)
{
	str_add_json(out, text, strlen(text));
}

/* ---- the resource ------------------------------------------------------- */

const char *otlp_key(const char *label)
{
	static const struct {
		const char *label, *key;
	} keys[] = {
		{"comm", "thread.name"}, {"cpu", "cpu.logical_number"}, {"pid", "process.pid"}, {"tid", "thread.id"},
		{"container", "container.id"}, {"pod", "k8s.pod.name"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].label, label))
			return keys[i].key;
	return *label == '$' && label[1] ? label + 1 : label; /* a variable of the script */
}

void otlp_attribute(const char *key, bool is_number, int64_t number, const char *text, struct str *out)
{
	str_add(out, "{\"key\": ");
	add_text(out, key);
	if (is_number) {
		str_addf(out, ", \"value\": {\"intValue\": \"%" PRId64 "\"}}", number);
		return;
	}
	str_add(out, ", \"value\": {\"stringValue\": ");
	add_text(out, text);
	str_add(out, "}}");
}

static void add_text_attribute(const char *key, const char *value, struct str *out)
{
	str_add(out, str_text(out)[out->len - 1] == '[' ? "" : ", ");
	otlp_attribute(key, false, 0, value, out);
}

/* Appends the pairs of OTEL_RESOURCE_ATTRIBUTES, a service only without service. Returns whether there is a service;
 * ret_host: a host. */
static bool add_given(bool service, bool *ret_host, struct str *out)
{
	const char *given = getenv("OTEL_RESOURCE_ATTRIBUTES");
	_cleanup_(freep) char *list = strdup(given ? given : "");
	char *rest = list, *key, *value;

	while (resource_next(&rest, &key, &value)) {
		if (!strcmp(key, "service.name")) {
			if (service)
				continue;
			service = true;
		}
		*ret_host |= !strcmp(key, "host.name");
		add_text_attribute(key, value, out);
	}
	return service;
}

static void add_resource(struct str *out)
{
	const char *service = getenv("OTEL_SERVICE_NAME");
	bool hosted = false;
	struct utsname u;

	str_add(out, "{\"attributes\": [");
	if (service && *service)
		add_text_attribute("service.name", service, out);
	if (!add_given(service && *service, &hosted, out))
		add_text_attribute("service.name", "strata", out);
	if (!hosted && !uname(&u))
		add_text_attribute("host.name", u.nodename, out);
	add_text_attribute("os.type", "linux", out);
	str_add(out, "]}");
}

void otlp_begin(const char *name, struct str *out)
{
	str_add(out, "{\"resource\": ");
	add_resource(out);
	str_addf(out, ", \"%s\": [{\"scope\": {\"name\": \"strata\", \"version\": \"%s\"}", name, STRATA_VERSION);
}

void otlp_end(struct str *out)
{
	str_add(out, "}]}");
}

/* ---- logs ------------------------------------------------------------- */

static void print_line(struct out *o, struct str *line)
{
	str_addc(line, '\n');
	fwrite(line->data, 1, line->len, o->file);
	str_done(line);
}

static void print_log(struct out *o, enum severity severity, const char *event, const char *text, size_t size)
{
	const char *name = severity == SEVERITY_INFO ? "INFO" : severity == SEVERITY_WARN ? "WARN" : "ERROR";
	uint64_t now = clock_ns(CLOCK_REALTIME);
	struct str line = {};

	if (size && text[size - 1] == '\n')
		size--;
	str_add(&line, "{\"resourceLogs\": [");
	otlp_begin("scopeLogs", &line);
	str_addf(&line, ", \"logRecords\": [{\"timeUnixNano\": \"%" PRIu64 "\", \"observedTimeUnixNano\": \"%" PRIu64
		"\", \"severityNumber\": %d, \"severityText\": \"%s\", \"eventName\": \"strata.%s\", "
		"\"body\": {\"stringValue\": ", now, now, severity, name, event);
	str_add_json(&line, text, size);
	str_add(&line, "}}]");
	otlp_end(&line);
	str_add(&line, "]}");
	print_line(o, &line);
}

static void print_text(struct out *o, const char *kind, const char *text, size_t size)
{
	print_log(o, SEVERITY_INFO, kind, text, size);
}

static void print_value(struct out *o, const struct type *t, const uint8_t *data)
{
	struct str text = {};

	show_value(o->show, t, data, &text);
	print_log(o, SEVERITY_INFO, "value", str_text(&text), text.len);
	str_done(&text);
}

static void print_event(struct out *o, const struct output_event *e)
{
	struct str text = {};

	switch (e->kind) {
	case OUTPUT_LOST:
		str_addf(&text, "%s%" PRIu64 " %s", e->are_events ? "Lost " : "", e->n, e->what);
		print_log(o, SEVERITY_WARN, "lost", str_text(&text), text.len);
		break;
	case OUTPUT_PROBLEM:
		print_log(o, SEVERITY_WARN, "problem", e->problem->text, strlen(e->problem->text));
		break;
	case OUTPUT_MESSAGE:
		print_log(o, e->message->is_error ? SEVERITY_ERROR : SEVERITY_WARN,
			e->message->is_error ? "errorf" : "warnf", e->message->text, strlen(e->message->text));
		break;
	case OUTPUT_ATTACHED:
	case OUTPUT_TRIALS:
		output_event_log(o, e);
		break;
	}
	str_done(&text);
	fflush(o->file); /* a reader may wait for it */
}

/* ---- maps --------------------------------------------------------------- */

/* Writes a map that is neither a profile nor a metric as text. */
static void print_map_text(struct out *o, const struct map_content *c)
{
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return;
	text_map(o->show, c, false, file);
	fclose(file);
	print_log(o, SEVERITY_INFO, "map", text, size);
}

static int render(const struct picture *p, FILE *file)
{
	struct str line = {};

	otlp_profiles(p, &line);
	str_addc(&line, '\n');
	fwrite(line.data, 1, line.len, file);
	str_done(&line);
	return 0;
}

static void print_profile(struct out *o, const struct map_content *c)
{
	struct recording *r = recording_new();
	struct picture p = {.recording = r, .begun = totals_begun(o->totals, c->map)};
	const struct recorded_map *m = recording_add(r, o->show, c);

	if (m->total)
		render(&p, o->file);
	recording_free(r);
}

static void print_metric(struct out *o, const struct map_content *c)
{
	struct str line = {};

	str_add(&line, "{\"resourceMetrics\": [");
	otlp_begin("scopeMetrics", &line);
	str_add(&line, ", \"metrics\": [");
	if (!otlp_metrics(o->show, c, o->begun, &line)) {
		str_done(&line);
		print_map_text(o, c);
		return;
	}
	str_addc(&line, ']');
	otlp_end(&line);
	str_add(&line, "]}");
	print_line(o, &line);
}

/* A window's values of a metric are added to those of earlier windows: its sums are cumulative. A profile has those of
 * the window. */
static void print_map(struct out *o, const struct map_content *c)
{
	struct map_content sum;

	o->totals = o->totals ? o->totals : totals_new(o->begun);
	if (recording_takes(c->map)) {
		if (c->first < c->n)
			print_profile(o, c);
		if (c->taken)
			totals_begin(o->totals, c->map, clock_ns(CLOCK_REALTIME));
		return;
	}
	sum = totals_add(o->totals, c);
	if (sum.first < sum.n)
		print_metric(o, &sum);
	totals_content_done(&sum, c);
}

const struct output output_otlp = {
	.name = "otlp",
	.help = "OpenTelemetry's profiles, metrics and logs, a line of OTLP/JSON each",
	.endings = "otlp.jsonl otlp",
	.content = OUTPUT_OBJECTS,
	.escapes = true,
	.exact = true,
	.has_times = true,
	.text = print_text,
	.value = print_value,
	.map = print_map,
	.event = print_event,
	.render = render,
};
