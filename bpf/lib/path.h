/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* path.h - path(): the interface between src/codegen/builtins/path.c and path.bpf.c.
 *
 * The path is built from its end: text[at..PATH_TEXT] is the known part, with its NUL. */
#pragma once
#include "types.h"

#define PATH_TEXT 4096
#define PATH_NAME 256 /* NAME_MAX + 1 */
#define PATH_DEPTH 512

/* Offsets of members in bytes: of Linux's include/linux/dcache.h, fs/mount.h, by BTF. */
struct path_offsets {
	__u16 d_parent, d_name, d_len; /* offsets in struct dentry: d_name.name, d_name.len */
	__u16 mnt_root;                /* offset in struct vfsmount */
	__u16 mnt, mnt_parent, mnt_mountpoint; /* offsets in struct mount */
	__u16 pad;
};
ABI_SIZE(path_offsets, 16);

struct path_req {
	__u64 mnt, dentry;           /* struct path */
	__u64 root_mnt, root_dentry; /* the process's root directory */
	struct path_offsets off;
	__u64 at; /* start of the known part; in the map, so that the verifier does not follow its value */
	char text[PATH_TEXT + PATH_NAME + 8];
};
ABI_SIZE(path_req, 56 + PATH_TEXT + PATH_NAME + 8);
