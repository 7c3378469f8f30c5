// SPDX-License-Identifier: Apache-2.0
/* session.h - scripts running: images -> kernel -> what they print, until they end.
 *
 * A one-liner opens a session, adds its image, polls until that says that it has ended, finishes and
 * closes. A session that grows takes more images while the first run, and drops some: a map is one
 * map for all that name it, and lives as long as the session. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"
#include "model/request.h"
#include "model/settings.h"
#include "output/pack.h"
#include "session/child.h"

struct libraries;
struct output;
struct session;
struct shared;
struct show;
struct stream;
struct target;

struct session_options {
	int pid;              /* -p: only this process, and end with it */
	struct child *child;  /* -c, or NULL */
	const struct output *output; /* -f */
	struct stream *stream;
	const struct settings *settings; /* what is made once: ring buffer, caches, source maps */
	bool quiet;           /* -q: nothing but what the script says */
	bool warn_reads;      /* -k: warn where memory cannot be read, at once */
	enum script_mode mode; /* tests and benchmarks run instead of probes */
	bool dry_run;         /* load, attach nothing */
	bool is_prompt;       /* Ctrl-C is not for the session; what an image attaches is not reported */
	bool is_last;         /* the process ends when it is closed */
	bool grows;           /* images may follow the first; the session does not end where no image
			       * has probes */
	const struct libraries *libraries; /* --hide, --only; NULL: all frames are shown */
	enum pack pack;       /* how the output is compressed */
	int64_t top;          /* of a map that is printed, the largest so many; 0: all */
};

/* What is pointed to, images too, is the caller's and must live until session_close(). Functions that
 * give int give 0 or -errno, and have reported an error; session_close() is called in both cases. */
int session_open(struct target *t, const struct session_options *opt, struct session **ret);
/* What codegen_options must say of the next image: its number; and whether it has to have all that
 * later ones may share, as long as none was loaded in a session that grows. */
uint32_t session_next(const struct session *s);
bool session_next_grows(const struct session *s);
/* Whether the images may have their stacks walked by the session's walkers. */
bool session_has_walker(const struct session *s);
/* Loads it, runs its begin and attaches its probes. After a failure nothing of it is left, but its
 * number is used up. */
int session_add(struct session *s, const struct image *img);
/* Readable when session_poll() has something to do; owned by the session. */
int session_fd(const struct session *s);
/* Processes are still to be read: session_poll() is to be called while there is nothing else to do. */
bool session_is_reading(const struct session *s);
/* At a prompt exit() ends its image alone: one that has called it, and is to be dropped. false: there is
 * none. */
bool session_exited(const struct session *s, uint32_t *ret_image);
/* Its image, which was dropped or could not be started, is not looked at any more. */
void session_forget(struct session *s, uint32_t image);
/* What one of its maps, by its name in a script, holds now; see map_read(). */
const struct shared *session_maps(const struct session *s);
const struct show *session_show(const struct session *s);
/* Nanoseconds and runs of the image's programs so far; 0 where the kernel does not count. */
void session_cost(const struct session *s, uint32_t image, uint64_t *ret_ns, uint64_t *ret_runs);
/* How far it is; events are counted where the images count them (codegen_options.counts). */
struct session_progress {
	uint64_t samples;    /* events that no filter left out */
	uint64_t lost;       /* events, and updates of maps */
	uint64_t incomplete; /* stacks that could not be walked to their end */
};
void session_progress(const struct session *s, struct session_progress *ret);
/* Waits for events, timeout_ms at most (-1: without limit), and handles them. false: the session has
 * ended, by exit(), a signal, the end of the process or of the reader of the output, or because there
 * is nothing to wait for. */
bool session_poll(struct session *s, int timeout_ms);
/* Detaches the image's probes and runs its end. Its maps stay. -ENOENT: there is no such image. */
int session_drop(struct session *s, uint32_t image);
/* Prints the maps as they are now, with an empty line behind. */
void session_print_maps(struct session *s);
/* Ends all images, prints the maps, says what was lost. exit()'s code, or 0. */
int session_finish(struct session *s);
void session_close(struct session *s);
