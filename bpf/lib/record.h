/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* record.h - the records in the ring buffer, and the layout of map values.
 *
 * Every record begins with a struct record. One ring buffer carries all kinds: a stack's frames arrive before
 * the first record that mentions its id. */
#pragma once
#include "types.h"

enum record_kind {
	RECORD_SCRIPT = 1, /* id: index into image.records; arguments follow, see image.h. The upper bits of kind may
	                    * have conditions: bpf/walk/match.h */
	RECORD_STACK,      /* struct stack_record: the frames of a stack's id */
	RECORD_WALK,       /* struct walk_record: a walk that userspace finishes */
	RECORD_MISS,       /* struct miss_record: an unknown process or pc */
	RECORD_LANG,       /* id: enum frame_lang; struct lang_record: names for a language's frames */
};

/* Declared and defined with this size; userspace sets another one before the load. */
#define RING_BYTES (1 << 20)

struct record {
	__u32 kind;
	__u32 id;
};
ABI_SIZE(record, 8);

/* Values of usym() and of userspace addresses: userspace names them. */
struct usym {
	__u64 addr;
	__u32 pid; /* tgid in strata's PID namespace */
	__u32 pad;
};
ABI_SIZE(usym, 16);

/* Values of aggregating maps, one per CPU. */
struct agg_minmax {
	__u64 value;
	__u64 is_set;
};
ABI_SIZE(agg_minmax, 16);

struct agg_stats { /* avg() and stats() */
	__u64 count;
	__u64 total;
};
ABI_SIZE(agg_stats, 16);

/* One interval of tseries(); the map's value is an array of them, at index interval % length. */
struct agg_tseries {
	__u64 value;    /* SERIES_AVG: the sum */
	__u64 n;        /* AVG: count; LAST: the value's time, in ns */
	__u64 interval; /* time / length of an interval + 1; 0: unused */
};
ABI_SIZE(agg_tseries, 24);

enum agg_series { SERIES_LAST, SERIES_AVG, SERIES_MAX, SERIES_MIN, SERIES_SUM };

/* A per-CPU value has at most 32 KiB. */
#define TSERIES_MAX 1024

/* An aggregation over all CPUs, as a program reads it. */
struct agg_whole {
	__u64 value;
	__u64 n; /* AVG: count; MIN, MAX: whether any is set */
};
ABI_SIZE(agg_whole, 16);

enum agg_merge { MERGE_SUM, MERGE_AVERAGE, MERGE_MIN, MERGE_MAX, MERGE_MIN_SIGNED, MERGE_MAX_SIGNED };

/* hist(n, k): bucket 0: negative; values below 2^k have one bucket each (1..2^k); above, each
 * power of two has 2^k buckets:
 *     1 + ((msb - k + 1) << k) + ((n >> (msb - k)) & (2^k - 1))
 * where msb is the highest bit's number. */
#define HIST_BUCKETS(k) (1u + ((65u - (k)) << (k)))
#define HIST_BITS_MAX   5

/* lhist(n, min, max, step): bucket 0 is below min, the last is at or above max. */
#define LHIST_BUCKETS_MAX 1002

/* join(): an array of strings, each NUL terminated, `n` of them. */
#define JOIN_STRINGS 16
#define JOIN_LENGTH  1024
struct join_record {
	struct record head;
	__u64 n;
	char text[JOIN_STRINGS][JOIN_LENGTH];
};

/* Maximum number of rounds of a loop: the kernel's BPF_MAX_LOOPS. */
#define LOOP_ROUNDS_MAX (8 * 1024 * 1024)

/* Maximum number of places whose problems are counted, see the map `problems`. */
#define PROBLEMS_MAX 1024

/* Per-CPU counters of events lost, see the map `lost`. */
enum lost_kind {
	LOST_RING,    /* the ring buffer was full for a record of the script */
	LOST_SCRATCH, /* no scratch slot was free */
	LOST_MAP,     /* a map was full */
	LOST_STACK,   /* a stack's frames could not be sent */
	LOST_LOOP,    /* a loop reached its maximum number of rounds */
	LOST_OTHER,   /* the ring buffer was full for a record of strata's own */
	LOST_UPDATE,  /* the kernel refused an update of a map that is not full */
	LOST_MAX,
};

/* Map `lost_at`: LOST_RING by probe and CPU. place: image_place_id(); a program that is at several places and
 * cannot know which has its first place with LOST_PROGRAM. Places beyond LOST_PLACES are counted only in `lost`. */
#define LOST_PLACES  4096
#define LOST_PROGRAM (1ULL << 63)
struct lost_at {
	__u64 place;
	__u32 cpu;
	__u32 pad;
};
ABI_SIZE(lost_at, 16);
