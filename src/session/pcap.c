// SPDX-License-Identifier: Apache-2.0
/* pcap.c - the classic format of pcap, with times in ns (draft-ietf-opsawg-pcap): a header, then the packets,
 * each after a header of its own. */
#include "pcap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { SECOND = 1000000000, ETHERNET = 1, SNAPLEN = 262144 };

struct file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snaplen, network;
};

struct packet_header {
	uint32_t seconds, ns, n, length;
};

struct file {
	char *path;
	FILE *out; /* NULL: it could not be opened, which was reported */
};

static struct {
	VEC(struct file) list;
} files;

static int open_file(const char *path, struct file **ret)
{
	const struct file_header head = {.magic = 0xa1b23c4d, .major = 2, .minor = 4, .snaplen = SNAPLEN,
		.network = ETHERNET};
	struct file f = {.path = strdup(path), .out = fopen(path, "we")};
	int r = f.out ? 0 : -errno;

	if (f.out)
		fwrite(&head, sizeof(head), 1, f.out);
	vec_push(&files.list, f);
	*ret = &files.list.data[files.list.len - 1];
	return r;
}

int pcap_write(const char *path, const void *data, uint32_t n, uint32_t length, uint64_t ns)
{
	const struct packet_header head = {(uint32_t)(ns / SECOND), (uint32_t)(ns % SECOND), n, length};
	struct file *f = NULL;
	int r = 0;

	for (size_t i = 0; i < files.list.len && !f; i++)
		if (files.list.data[i].path && !strcmp(files.list.data[i].path, path))
			f = &files.list.data[i];
	if (!f)
		r = open_file(path, &f);
	if (!f->out)
		return r;
	errno = 0;
	if (fwrite(&head, sizeof(head), 1, f->out) == 1 && fwrite(data, 1, n, f->out) == n && !fflush(f->out))
		return 0;
	r = errno ? -errno : -EIO;
	fclose(f->out);
	f->out = NULL;
	return r;
}

void pcap_close(void)
{
	for (size_t i = 0; i < files.list.len; i++) {
		if (files.list.data[i].out)
			fclose(files.list.data[i].out);
		free(files.list.data[i].path);
	}
	vec_done(&files.list);
}
