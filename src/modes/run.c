// SPDX-License-Identifier: Apache-2.0
/* run.c - opens the output and a session of one image, polls until the session ends, and closes both. */
#include "run.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/notify.h"
#include "base/why.h"
#include "export/exporter.h"
#include "model/image.h"
#include "modes/namespace.h"
#include "output/output.h"
#include "output/stream.h"

/* For the last messages, when a script has ended. */
enum { LAST_SECONDS = 5 };

static int run_session(const struct run_options *opt, const struct session_options *session)
{
	struct session *s = NULL;
	int code = 1, r = session_open(opt->target, session, &s);

	if (!r)
		r = session_add(s, opt->image);
	if (!r && opt->loop.notifies)
		notify_send("READY=1\nSTATUS=%u programs attached", opt->image->nprogs);
	if (!r)
		loop_run(s, &opt->loop);
	if (!r)
		code = session_finish(s);
	session_close(s);
	if (r && !log_errors)
		log_error("the script could not be started: %s", why_errno(r));
	return code;
}

static bool open_output(const struct run_options *opt, struct exporter **ret_exporter, struct stream **ret)
{
	struct export_options to = {.endpoint = opt->path};
	int r;

	if (export_is_url(opt->path))
		return !exporter_open(&to, ret_exporter) && !stream_open_to(exporter_write, *ret_exporter, ret);
	r = stream_open(opt->path, ret);
	if (r)
		log_error("cannot write %s: %s", opt->path ? opt->path : "the output", why_write(r));
	return !r;
}

/* Waits for the receiver, but not for long. Returns whether it has all. */
static bool close_exporter(struct exporter *e)
{
	struct export_counts counts;
	bool all = true;

	exporter_close(e, LAST_SECONDS, &counts);
	if (counts.rejected)
		log_warn("the receiver rejected %" PRIu64 " records", counts.rejected);
	for (int i = 0; i < EXPORT_DROP_MAX; i++)
		if (counts.dropped[i]) {
			log_error("%" PRIu64 " of %" PRIu64 " messages were not delivered: %s%s%s", counts.dropped[i],
				counts.sent + counts.dropped[i], export_drop_why(i), *counts.trouble ? ": " : "",
				counts.trouble);
			all = false;
		}
	return all;
}

int run_image(const struct run_options *opt)
{
	struct session_options session = opt->session;
	struct exporter *exporter = NULL;
	int r, code;

	if (!opt->image->nprogs) {
		log_error(opt->has_filter ? "no probes to attach: none that exists here matches --probe-filter" :
					    "no probes to attach: no attach point of the script exists here");
		return 1;
	}
	namespace_warn(opt->target, opt->image, session.pid || session.child);
	if (!open_output(opt, &exporter, &session.stream))
		return 1;
	if (opt->buffer_all)
		stream_buffer_all(session.stream);
	session.pack = output_pack(session.output, opt->path);
	code = run_session(opt, &session);
	r = stream_close(session.stream);
	if (exporter && !close_exporter(exporter))
		r = r ? r : 1;
	return r ? r : code;
}
