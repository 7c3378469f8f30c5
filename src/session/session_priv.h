// SPDX-License-Identifier: Apache-2.0
/* session_priv.h - what the files of the session share; private to them. */
#pragma once
#include <signal.h>

#include "base/vec.h"
#include "output/output.h"
#include "probes/ticks.h"
#include "session/backlog.h"
#include "session/forget.h"
#include "session/image_object.h"
#include "session/pace.h"
#include "session/session.h"
#include "session/shared.h"
#include "session/silence.h"
#include "session/walkers.h"
#include "values/show.h"

struct follow;
struct ring_buffer;
struct unwinders;

enum event_from { FROM_RING, FROM_TIMER, FROM_FOLLOW, FROM_SIGNAL, FROM_SELF, FROM_TICKS, FROM_PROCESS, FROM_OUTPUT };

struct session {
	struct target *target;
	struct session_options opt;
	struct load_env load;
	struct shared shared;
	struct walkers walkers;
	VEC(struct image_object *) objects; /* by number; of dropped ones obj is NULL */
	VEC(const struct image *) images;   /* theirs */
	struct ring_buffer *ring;
	struct pace pace; /* of reading it */
	bool reads;       /* the ring: it is libbpf's turn.. */
	bool gathers;     /* ..into the backlog alone */
	struct backlog backlog;
	uint8_t *whole;   /* the record that is handled, where it was sent without the unused bytes of its texts */
	size_t whole_size;
	struct ticks ticks;
	struct unwinders *unwinders;
	bool on_bpf;      /* the unwinders write to the kernel's maps */
	struct follow *follow;
	bool forgets;     /* forget_program() is attached.. */
	int forget_link;  /* ..here, where it is the walkers'; -1: it is not */
	struct links links; /* of programs that serve all images */
	struct show show;
	struct out out;
	struct forget forget;
	int epoll, process;
	int signals;      /* signalfd of what self probes wait for; -1: none does */
	sigset_t wanted;  /* those */
	uint64_t slice_end; /* when the reading of records is to be interrupted; 0: never */
	unsigned records; /* read so far; may wrap */
	unsigned long seen; /* records of the script, elements of maps: what there was to show */
	int *unread;      /* processes that ran before: read in the background */
	size_t nunread;
	bool is_set_up;   /* set_up() was called, with the first image */
	bool is_released; /* the command of -c runs */
	struct silence silence; /* since all was attached */
	bool ended;       /* exit(), a signal, or the process' end */
	int code;         /* of exit() */
};

/* 0 or -errno. */
int session_watch(struct session *s, int fd, enum event_from from);
/* A program that serves all images. 0 or -errno; -ENOENT: the object has it not. */
int session_attach_raw(struct session *s, const struct image_object *o, const char *program,
	const char *tracepoint);

/* NULL: nothing of that number runs. */
static inline struct image_object *session_object(const struct session *s, uint32_t image)
{
	struct image_object *o = image < s->objects.len ? s->objects.data[image] : NULL;

	return o && o->obj ? o : NULL;
}

/* session_records.c: records of the ring, and what processes did, for slice_ns at most; 0: until none is left. False:
 * records wait. */
bool session_drain(struct session *s, uint64_t slice_ns);
struct ring_buffer *session_new_ring(struct session *s, int fd);
/* Both are read on into memory, while a record is handled: for unwinders_on_table(). */
void session_gather(void *arg);

/* session_stacks.c: makes what the object's stacks need, where it is not there yet: unwinders, followed
 * processes. Called while the kernel verifies. 0 or -errno, reported. */
int session_open_unwinders(struct session *s, const struct image_object *o);
/* Once the object is loaded. */
void session_forget_programs(struct session *s, const struct image_object *o);
/* Between events, one at a time: a script that asks for the stacks of the whole machine
 * does not wait for all of its processes to be read. */
void session_read_one_process(struct session *s);
