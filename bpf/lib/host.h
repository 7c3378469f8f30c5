// SPDX-License-Identifier: Apache-2.0
/* host.h - stand-ins for the kernel's functions in bpf/lib/kernel.bpf.h. Included only by the kernel
 * halves, which are compiled with -DSTRATA_HOST. */
#pragma once
#include <linux/bpf.h>
#include <linux/types.h>
#include <stddef.h>

#define SEC(name)
#define __uint(name, val)  int (*name)[(unsigned long)(val) ? 1 : 1]
#define __type(name, val)  __typeof__(val) *name
#define __array(name, val) __typeof__(val) *name[1]
#define __weak             __attribute__((weak))
#define __noinline         __attribute__((noinline))
#undef __always_inline
#define __always_inline    inline __attribute__((always_inline))

/* A map is identified by its address. */
void *host_map_lookup(void *map, const void *key);
long host_map_update(void *map, const void *key, const void *value);
long host_read(void *dst, __u32 size, const void *addr);
long host_output(const void *data, __u64 size);
__u64 host_pid_tgid(void);
__u64 host_time(void);
__u64 host_ring_size(void); /* 0: no ring buffer */

/* A language's maps, see bpf/walk/langmaps.bpf.h. */
struct host_lang {
	const void *procs, *files, *scratch;
	size_t scratch_size;
};

#define bpf_map_lookup_elem(map, key)              host_map_lookup((void *)(map), key)
#define bpf_map_update_elem(map, key, value, flag) host_map_update(map, key, value)
#define bpf_probe_read_user(dst, size, addr)       host_read(dst, size, (const void *)(addr))
#define bpf_ringbuf_output(map, data, size, flags) host_output(data, size)
#define bpf_ringbuf_query(map, what)               host_ring_size()
#define bpf_get_current_pid_tgid()                 host_pid_tgid()
#define bpf_get_smp_processor_id()                 0
#define bpf_get_current_task()                     0ULL
#define bpf_ktime_get_ns()                         host_time()

/* Reads a string of at most size bytes with its zero. Returns the number of bytes, or -1. */
static inline long bpf_probe_read_user_str(void *dst, __u32 size, const void *addr)
{
	char *out = dst;

	for (__u32 i = 0; i < size; i++) {
		if (i + 1 == size)
			out[i] = 0;
		else if (host_read(out + i, 1, (const char *)addr + i))
			return -1;
		if (!out[i])
			return i + 1;
	}
	return -1;
}

/* There is no kernel memory to read. */
static inline long bpf_probe_read_kernel(void *dst, __u32 size, const void *addr)
{
	return -1;
}

static inline long bpf_loop(__u32 n, long (*f)(__u32, void *), void *ctx, __u64 flags)
{
	for (__u32 i = 0; i < n; i++)
		if (f(i, ctx))
			return i + 1;
	return n;
}
