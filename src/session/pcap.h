// SPDX-License-Identifier: Apache-2.0
/* pcap.h - files of packets, which tcpdump -r reads. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Appends a packet to a file, which the first packet creates. n: bytes of data; length: bytes of the whole
 * packet; ns: CLOCK_REALTIME. Returns 0 on success, -errno on failure, once for each file that cannot be written. */
int pcap_write(const char *path, const void *data, uint32_t n, uint32_t length, uint64_t ns);
/* Closes all files. */
void pcap_close(void);
