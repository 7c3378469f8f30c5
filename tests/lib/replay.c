// SPDX-License-Identifier: Apache-2.0
/* replay.c - calls a fuzzer's entry with each given file and each file of the given folders,
 * so that every build retries the inputs that a fuzzer found. Prints TAP. */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/owner.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count;

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static bool replay_file(const char *path)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	_cleanup_(str_done) struct str text = {};
	uint8_t *copy; /* a buffer of the exact size, so that the sanitizer reports reads beyond it */
	char buf[4096];
	size_t n;

	if (!f)
		return false;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_addn(&text, buf, n);
	copy = malloc(text.len ? text.len : 1);
	if (!copy)
		return false;
	for (size_t i = 0; i < text.len; i++)
		copy[i] = (uint8_t)text.data[i];
	LLVMFuzzerTestOneInput(copy, text.len);
	free(copy);
	printf("ok %u - %s\n", ++count, path);
	return true;
}

static bool replay(const char *path)
{
	_cleanup_(closedirp) DIR *d = opendir(path);
	bool ok = true;

	if (!d)
		return replay_file(path);
	for (struct dirent *e; (e = readdir(d));) {
		_cleanup_(str_done) struct str file = {};

		if (e->d_name[0] == '.' || e->d_type == DT_DIR)
			continue;
		str_addf(&file, "%s/%s", path, e->d_name);
		ok &= replay_file(str_text(&file));
	}
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		ok &= replay(argv[i]);
	printf("1..%u\n", count);
	return !ok;
}
