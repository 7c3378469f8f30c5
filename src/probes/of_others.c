// SPDX-License-Identifier: Apache-2.0
/* of_others.c - events that do not belong to the current task: the scheduler's belong to two tasks, and
 * others come in interrupts, with any task on the CPU. Names: Linux 6.18. */
#include <string.h>

#include "base/owner.h"
#include "probes.h"

bool tracepoint_is_of_others(const char *category)
{
	static const char *const all[] = {
		"sched", "irq", "irq_vectors", "timer", "block", "scsi", "nvme",
		"net", "napi", "skb", "tcp", "udp", "sock", "qdisc",
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(category, all[i]))
			return true;
	return false;
}

bool raw_tracepoint_is_of_others(const char *name)
{
	static const char *const begin[] = {
		"sched_", "irq_", "softirq_", "timer_", "hrtimer_", "local_timer_", "block_", "scsi_", "nvme_",
		"netif_", "net_dev_", "napi_", "kfree_skb", "consume_skb", "tcp_", "udp_", "sock_", "inet_sock_",
		"qdisc_",
	};

	for (size_t i = 0; i < ARRAY_SIZE(begin); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return true;
	return false;
}
