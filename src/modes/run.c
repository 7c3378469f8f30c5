// SPDX-License-Identifier: Apache-2.0
/* run.c - opens the output and a session of one image, polls until the session ends, and closes both. */
#include "run.h"

#include "base/log.h"
#include "base/notify.h"
#include "base/why.h"
#include "model/image.h"
#include "modes/namespace.h"
#include "output/output.h"
#include "output/stream.h"

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

int run_image(const struct run_options *opt)
{
	struct session_options session = opt->session;
	int r, code;

	if (!opt->image->nprogs) {
		log_error(opt->has_filter ? "no probes to attach: none that exists here matches --probe-filter" :
					    "no probes to attach: no attach point of the script exists here");
		return 1;
	}
	namespace_warn(opt->target, opt->image, session.pid || session.child);
	r = stream_open(opt->path, &session.stream);
	if (r) {
		log_error("cannot write %s: %s", opt->path ? opt->path : "the output", why_write(r));
		return 1;
	}
	if (opt->buffer_all)
		stream_buffer_all(session.stream);
	session.pack = output_pack(session.output, opt->path);
	code = run_session(opt, &session);
	r = stream_close(session.stream);
	return r ? r : code;
}
