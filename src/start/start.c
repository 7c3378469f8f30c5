// SPDX-License-Identifier: Apache-2.0
/* start.c - makes a compiled image fit this machine. See start.h. */
#include "start.h"

#include <stdio.h>

#include "base/diag.h"
#include "base/log.h"
#include "priv.h"
#include "target/target.h"

/* The code was made for a kernel that has these. */
static bool has_features(const struct request *req)
{
	static const enum feature needed[] = {FEATURE_BPF_LOOP, FEATURE_COOKIE};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!target_feature(req->target, needed[i])) {
			log_error("this kernel lacks the %s", feature_help(needed[i]));
			log_hint("built programs need Linux 5.17; strata itself runs the script");
			return false;
		}
	return true;
}

bool start_fill(const struct request *req, struct image *img)
{
	return !img->facts || start_holes(req, img); /* without facts the code has no holes */
}

bool start_silently(const struct request *req, struct image *img)
{
	struct request here = *req;
	unsigned said = log_said;
	int level = log_level;
	bool ok;

	here.diags = diags_new(req->arena, img->source);
	log_level = LOG_NOTHING;
	ok = start_places(&here, img) && start_holes(&here, img) && diags_none(here.diags) && said == log_said;
	log_level = level;
	return ok;
}

bool start_image(const struct request *req, struct image *img)
{
	struct request here = *req;
	bool ok;

	here.diags = diags_new(req->arena, img->source);
	ok = has_features(&here) && start_places(&here, img) && start_holes(&here, img);
	diags_print(here.diags, stderr, false);
	return ok && !diags_failed(here.diags);
}
