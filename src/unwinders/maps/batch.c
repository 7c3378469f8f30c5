// SPDX-License-Identifier: Apache-2.0
/* batch.c - see batch.h. Lookups in the array of tables return the id of the table: this shows that the thread's batch
 * has put it there. */
#include "batch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { POLL_US = 20 };

int batch_put_waiting(int tables, const uint32_t *file, const int *fd, uint32_t n)
{
	return bpf_map_update_batch(tables, file, fd, &n, NULL) ? -errno : 0;
}

static int put_singly(const struct batch *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n; i++)
		if (bpf_map_update_elem(b->tables, &b->file[i], &b->fd[i], BPF_ANY))
			err = -errno;
	return err;
}

static void *put(void *arg)
{
	struct batch *b = arg;

	b->err = batch_put_waiting(b->tables, b->file, b->fd, b->n);
	atomic_store(&b->is_over, true);
	return NULL;
}

void batch_done(struct batch *b)
{
	if (b->has_thread)
		pthread_join(b->thread, NULL);
	b->has_thread = false;
	for (; b->n; b->n--)
		close(b->fd[b->n - 1]);
}

static bool has_last(const struct batch *b)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info), id, last = b->n - 1;

	return !bpf_map_lookup_elem(b->tables, &b->file[last], &id) &&
		!bpf_obj_get_info_by_fd(b->fd[last], &info, &size) && id == info.id;
}

int batch_put(struct batch *b, int tables, const uint32_t *file, const int *fd, uint32_t n)
{
	int err = 0;

	batch_done(b);
	b->tables = tables;
	b->n = n;
	memcpy(b->file, file, n * sizeof(*file));
	memcpy(b->fd, fd, n * sizeof(*fd));
	atomic_store(&b->is_over, false);
	b->has_thread = !pthread_create(&b->thread, NULL, put, b);
	if (!b->has_thread)
		put(b);
	while (!atomic_load(&b->is_over) && !has_last(b)) /* the kernel puts them there in their order */
		usleep(POLL_US);
	if (!atomic_load(&b->is_over))
		return 0;
	if (b->err)
		err = put_singly(b);
	batch_done(b);
	return err;
}
