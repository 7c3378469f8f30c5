// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* path.bpf.c - the path of a file, by the names of directories up to the root, through mounts, like
 * prepend_path() in Linux's fs/d_path.c. bpf_d_path() does the same in programs that may call it. */
#include "maps.bpf.h"
#include "path.h"

struct path_state {
	struct path_req *req;
	__u64 mnt, dentry;
};

static __u64 word(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

/* Puts the name in front of the known part. Returns 1 if there is no room. */
static long add_name(struct path_state *s, int slash)
{
	struct path_req *r = s->req;
	__u64 name = word(s->dentry + r->off.d_name);
	__u32 len = 0, at = r->at;

	bpf_probe_read_kernel(&len, sizeof(len), (void *)(s->dentry + r->off.d_len));
	len &= PATH_NAME - 1;
	at -= len + slash;
	if (at > PATH_TEXT)
		return 1;
	FORGET(at);
	if (at > PATH_TEXT)
		return 1;
	r->at = at;
	if (slash) {
		r->text[at] = '/';
		at++;
	}
	FORGET(len);
	len &= PATH_NAME - 1;
	bpf_probe_read_kernel(&r->text[at], len, (void *)name);
	return 0;
}

/* Goes from the root of a mount to its mount point. Returns 1 if there is none above. */
static long leave_mount(struct path_state *s)
{
	const struct path_offsets *off = &s->req->off;
	__u64 mount = s->mnt - off->mnt, parent = word(mount + off->mnt_parent);

	if (!parent || parent == mount)
		return 1;
	s->dentry = word(mount + off->mnt_mountpoint);
	s->mnt = parent + off->mnt;
	return 0;
}

static long path_step(__u32 i, void *data)
{
	struct path_state *s = data;
	struct path_req *r = s->req;
	__u64 parent;

	if (s->dentry == r->root_dentry && s->mnt == r->root_mnt)
		return 1;
	if (s->dentry == word(s->mnt + r->off.mnt_root))
		return leave_mount(s);
	parent = word(s->dentry + r->off.d_parent);
	if (!parent)
		return 1;
	if (parent == s->dentry) { /* in no directory: a pipe, a socket */
		add_name(s, 0);
		return 1;
	}
	if (add_name(s, 1))
		return 1;
	s->dentry = parent;
	return 0;
}

/* Returns the start of the path in r->text. */
__global int path_text(struct path_req *r)
{
	struct path_state s = { .req = r };

	if (!r)
		return 0;
	r->at = PATH_TEXT;
	r->text[PATH_TEXT] = 0;
	s.mnt = r->mnt;
	s.dentry = r->dentry;
	if (!s.dentry)
		return PATH_TEXT;
	bpf_loop(PATH_DEPTH, path_step, &s, 0);
	if (r->at == PATH_TEXT) {
		r->text[PATH_TEXT - 1] = '/';
		return PATH_TEXT - 1;
	}
	return r->at;
}
