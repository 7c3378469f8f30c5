// SPDX-License-Identifier: Apache-2.0
/* session.h - running scripts: images go to the kernel, their output is printed, until they end.
 *
 * A one-liner opens a session, adds its image, polls until the session has ended, finishes and closes. A
 * session that grows takes more images while the first run, and drops some: a map is one map for all images
 * that name it, and lives as long as the session. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"
#include "model/request.h"
#include "model/settings.h"
#include "output/pack.h"
#include "session/child.h"
#include "session/roots.h"

struct libraries;
struct output;
struct session;
struct shared;
struct show;
struct stream;
struct target;

struct session_options {
	int pid;              /* -p: only this process; the session ends with it */
	struct roots roots;   /* several -p, or --children; then pid is the first of them */
	struct child *child;  /* -c, or NULL */
	const struct output *output; /* -f */
	struct stream *stream;
	const struct settings *settings; /* for things made once: ring buffer, caches, source maps */
	bool until_eof;       /* --until-eof: the session ends with its standard input */
	bool quiet;           /* -q: print only the script's own output */
	bool warn_reads;      /* -k: report failed reads of memory immediately */
	enum script_mode mode; /* tests and benchmarks run instead of probes */
	bool dry_run;         /* load, attach nothing */
	bool is_prompt;       /* Ctrl-C does not end the session; attaching an image is not reported */
	bool is_last;         /* the process ends when it is closed */
	bool grows;           /* images may follow the first; the session continues even if no image has probes */
	bool long_names;      /* --long */
	bool startup;         /* --startup: print_startup_stacks, whatever the script says */
	bool idle;            /* --idle: print_idle_stacks, whatever the script says */
	const struct libraries *libraries; /* --hide, --only; NULL: all frames are shown */
	enum pack pack;       /* compression of the output */
	int64_t top;          /* number of a printed map's largest entries; 0: all */
};

/* The caller owns everything to which there are pointers, also images; it must live until session_close().
 * Functions with an int result return 0 or -errno, and have reported an error; call session_close() in both cases. */
int session_open(struct target *t, const struct session_options *opt, struct session **ret);
/* Values for codegen_options of the next image: its number; and whether it must have everything that later
 * images may share, which is so for the first image of a session that grows. */
uint32_t session_next(const struct session *s);
bool session_next_grows(const struct session *s);
/* Returns whether the session's walkers can walk the images' stacks. */
bool session_has_walker(const struct session *s);
/* Loads the image, runs its begin and attaches its probes. A failure leaves nothing of it,
 * but its number is used up. */
int session_add(struct session *s, const struct image *img);
/* Readable when session_poll() has something to do; owned by the session. */
int session_fd(const struct session *s);
/* Returns whether processes remain to be read: call session_poll() while there is nothing else to do. */
bool session_is_reading(const struct session *s);
/* At a prompt, exit() ends only its image. Finds an image that has called it, to be dropped.
 * Returns false if there is none. */
bool session_exited(const struct session *s, uint32_t *ret_image);
/* The session no longer uses the image, which was dropped or could not be started. */
void session_forget(struct session *s, uint32_t image);
/* Returns the maps, by their names in a script, whose content map_read() returns. */
const struct shared *session_maps(const struct session *s);
const struct show *session_show(const struct session *s);
/* Returns the nanoseconds and runs of the image's programs so far; 0 if the kernel does not count. */
void session_cost(const struct session *s, uint32_t image, uint64_t *ret_ns, uint64_t *ret_runs);
/* Progress of the session; events are counted only if the images count them (codegen_options.counts). */
struct session_progress {
	uint64_t samples;    /* events that passed the filters */
	uint64_t lost;       /* events, and updates of maps */
	uint64_t incomplete; /* stacks that could not be walked to their end */
};
void session_progress(const struct session *s, struct session_progress *ret);
/* Gives memory back if that is due. Returns the state of the unwinders, see unwinders_save_memory(). */
void session_trim(struct session *s, uint64_t *ret_tables, unsigned *ret_refused);
/* Waits for events, at most timeout_ms (-1: without limit), and handles them. Returns false if the
 * session has ended: by exit(), a signal, the end of the process or of the reader of the output, or
 * because there is nothing to wait for. */
bool session_poll(struct session *s, int timeout_ms);
/* Detaches the image's probes and runs its end. Its maps stay. Returns -ENOENT if there is no such image. */
int session_drop(struct session *s, uint32_t image);
/* Prints the present maps, followed by an empty line. */
void session_print_maps(struct session *s);
/* Ends all images, prints the maps, reports losses. Returns exit()'s code, or 0. */
int session_finish(struct session *s);
void session_close(struct session *s);
