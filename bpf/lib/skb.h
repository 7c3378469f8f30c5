/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* skb.h - skboutput(): the bytes of a packet, in the ring buffer. */
#pragma once
#include "record.h"

#define SKB_MAX 16384 /* bytes of a packet */

struct skb_record {
	struct record head;
	__u64 time;   /* ns since boot */
	__u32 length; /* bytes of the whole packet, from the offset on */
	__u32 n;      /* bytes in data */
	__u8 data[SKB_MAX];
};
ABI_SIZE(skb_record, 24 + SKB_MAX);
