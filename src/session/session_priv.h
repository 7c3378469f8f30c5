// SPDX-License-Identifier: Apache-2.0
/* session_priv.h - data shared by the files of the session, and private to them. */
#pragma once
#include <signal.h>

#include "base/str.h"
#include "base/vec.h"
#include "output/output.h"
#include "probes/ticks.h"
#include "session/advice.h"
#include "session/backlog.h"
#include "session/forget.h"
#include "session/image_object.h"
#include "session/pace.h"
#include "session/reuse.h"
#include "session/session.h"
#include "session/shared.h"
#include "session/silence.h"
#include "session/walkers.h"
#include "values/show.h"

struct follow;
struct record;
struct requests;
struct ring_buffer;
struct unwinders;

enum event_from {
	FROM_RING, FROM_TIMER, FROM_FOLLOW, FROM_SIGNAL, FROM_SELF, FROM_TICKS, FROM_PROCESS, FROM_OUTPUT, FROM_WINDOW,
	FROM_INPUT, FROM_REQUESTS, FROM_ENTRIES,
};

struct session {
	struct target *target;
	struct session_options opt;
	struct load_env load;
	struct shared shared;
	struct walkers walkers;
	VEC(struct image_object *) objects; /* by number; dropped ones have no obj */
	VEC(const struct image *) images;   /* their images */
	struct ring_buffer *ring;
	struct pace pace; /* times of its reads */
	bool reads;       /* libbpf is reading the ring */
	bool gathers;     /* it only fills the backlog */
	struct backlog backlog;
	uint8_t *whole;   /* the present record with all bytes of its texts, if it was sent without the unused ones */
	size_t whole_size;
	struct ticks ticks;
	int window;       /* timer of config window; -1: none */
	struct unwinders *unwinders;
	struct requests *requests; /* NULL: no image asks for requests */
	bool on_bpf;      /* the unwinders write to the kernel's maps */
	struct follow *follow;
	bool forgets;     /* forget_program() is attached */
	int forget_link;  /* link of the walkers' forget_program(); -1: none */
	struct reuse reuse;
	struct links links; /* links of programs that serve all images */
	struct show show;
	struct out out;
	struct forget forget;
	int epoll, process;
	VEC(int) root_fds; /* pidfds of the processes of opt.roots */
	int signals;      /* signalfd for self probes; -1: none */
	sigset_t wanted;  /* the signals of self probes */
	uint64_t slice_end; /* end of the time for reading records; 0: no limit */
	unsigned records; /* number read so far; may wrap */
	unsigned long begun; /* `seen` when all was attached: the headings that begin prints */
	unsigned long seen; /* number of things to show: records of the script, elements of maps */
	int *unread;      /* processes that ran before: read in the background */
	size_t nunread;
	bool is_set_up;   /* set_up() was called, with the first image */
	bool is_released; /* the command of -c runs */
	uint64_t ended_ns;  /* CLOCK_MONOTONIC of the end; 0: it runs */
	struct str about_whom; /* about_process(), when it began */
	struct str about;   /* about_session(), for the output */
	struct advice advice;   /* about the maps that are printed at the end */
	struct silence silence; /* counted since all was attached */
	bool ended;       /* ended by exit(), a signal, or the process's end */
	int code;         /* exit()'s code */
};

/* Returns 0 on success, -errno on failure. */
int session_watch(struct session *s, int fd, enum event_from from);
void session_unwatch(const struct session *s, int fd);
/* session_lost.c: config find_lost. */
void session_find_lost(struct session *s);
/* Attaches a program that serves all images. Returns 0 on success, -ENOENT if the object does not have it,
 * -errno on other failures. */
int session_attach_raw(struct session *s, const struct image_object *o, const char *program,
	const char *tracepoint);

/* Returns NULL if no image with that number runs. */
static inline struct image_object *session_object(const struct session *s, uint32_t image)
{
	struct image_object *o = image < s->objects.len ? s->objects.data[image] : NULL;

	return o && o->obj ? o : NULL;
}

/* session_maps.c: starts the timer of config window. Returns 0 on success, -errno on failure, which it reports. */
int session_open_window(struct session *s);
/* The timer has run: prints the window's aggregations, and empties them. */
void session_end_window(struct session *s);
/* Prints all maps, and ends the output. */
void session_print_last(struct session *s);

/* session_records.c: handles records of the ring, and events of processes, for at most slice_ns; 0: until
 * none is left. Returns false if records still wait. */
bool session_drain(struct session *s, uint64_t slice_ns);
/* Handles a record of a script. arg: the session. */
void session_on_script(void *arg, const struct record *head, size_t size);
struct ring_buffer *session_new_ring(struct session *s, int fd);
/* Reads both into memory while a record is being handled: for unwinders_on_table(). */
void session_gather(void *arg);

/* session_table.c: prints a line about each map of stacks, if the script's settings say so. */
void session_print_answers(struct session *s, const struct image_map *const *maps, size_t n);
/* Prints the maps that are columns of the script's table, and takes them off the list. */
bool session_print_table(struct session *s, const struct image_map **maps, size_t *n);

/* session_stacks.c: makes the things that the object's stacks need, if they are missing: unwinders, followed
 * processes. Called while the kernel verifies. Returns 0 on success, -errno on failure, which it reports. */
int session_open_unwinders(struct session *s, struct image_object *o);
/* Called when the object is loaded. Returns 0 on success, -errno on failure. */
int session_open_requests(struct session *s, const struct image_object *o);
void session_forget_programs(struct session *s, const struct image_object *o);
/* Reads one process, between events: a script that wants the stacks of the whole machine does not wait
 * until all processes are read. */
void session_read_one_process(struct session *s);
