// SPDX-License-Identifier: Apache-2.0
/* lang.c - JavaScript's row: V8's builtins have rules, its objects are read in the process. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "unwinders/lang.h"
#include "v8.h"

static int open_layout(const struct lang_file *f, void **ret)
{
	struct v8_layout *l = calloc(1, sizeof(*l));
	int err = l ? v8_layout(f, l) : -ENOMEM;

	if (err) {
		free(l);
		log_info("%s: cannot read the layout of its V8", f->path);
		return err;
	}
	if (l->compressed)
		log_warn("%s: its V8 compresses pointers, as Electron's and Chromium's: JavaScript functions are <js>",
			f->path);
	else if (l->proc.opaque)
		log_warn("%s: its V8 was built without constants for debuggers, as node's are: "
			"JavaScript functions are <js>", f->path);
	*ret = l;
	return 0;
}

/* A process may map the builtins again for each worker, at a place unrelated to the rest of the file. So
 * addresses of data come only from other mappings. */
static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *ret)
{
	const struct v8_layout *l = f->opened;
	struct v8_proc *proc = ret;

	if (!l)
		return -ENOTSUP;
	if (is_first)
		*proc = l->proc;
	if (l->epoch && (!m || m->start - m->bias < l->proc.builtins))
		proc->epoch = l->epoch + (m ? m->bias : 0);
	return 0;
}

/* All executable memory without a file may be compiled code. */
static bool compiles(const char *path)
{
	return true;
}

static void *names_new(void)
{
	return v8_codes_new();
}

static void names_free(void *names)
{
	v8_codes_free(names);
}

static bool record(void *names, const struct lang_record *r, size_t size, const struct lang_process *p)
{
	struct v8_heap heap = p ? (struct v8_heap){ p->opened, p->read, p->arg } : (struct v8_heap){};

	if (size >= sizeof(struct v8_record))
		v8_codes_record(names, (const void *)r, p ? &heap : NULL);
	return false;
}

static bool name_frame(const void *names, uint64_t frame, struct frame_name *ret)
{
	return v8_codes_name(names, frame, ret);
}

static void use_source_maps(void *names, const struct sourcemap_files *files)
{
	v8_codes_use_source_maps(names, files);
}

const struct lang lang_v8 = {
	.name = "v8",
	.program = "node",
	.version = 20,
	.proc_size = sizeof(struct v8_proc),
	.generation_at = offsetof(struct v8_proc, generation),
	.table = v8_table,
	.rules = v8_rules,
	.open = open_layout,
	.close = free,
	.attach = attach,
	.compiles = compiles,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name_frame,
	.threads = v8_threads,
	.threads_need_tp = true,
	.use_source_maps = use_source_maps,
};
