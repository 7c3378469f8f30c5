// SPDX-License-Identifier: Apache-2.0
/* jits.c - a JIT: it puts the same code into the place of other code, and lists it each time under another name.
 * jits map: in /tmp/perf-PID.map. jits dump: in ./jit-PID.dump, with lines, and one function that moves. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CODE_BYTES  64
#define PHASE_NS    400000000ull
#define MARK        0x4a695444u

typedef long code_fn(long n);

#ifdef __x86_64__ /* 1: dec %rdi; jnz 1b; ret */
static const uint8_t code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
#else /* 1: subs x0, x0, #1; b.ne 1b; ret */
static const uint8_t code[] = {0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6};
#endif

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run(const uint8_t *at)
{
	uint64_t end = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + PHASE_NS;

	while (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		((code_fn *)(uintptr_t)at)(1000000);
}

static uint8_t *new_code(void)
{
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	memcpy(at + CODE_BYTES, code, sizeof(code));
	return at;
}

static void by_map(void)
{
	static const char *const names[] = {"first_code", "second_code", "third_code"};
	uint8_t *at = new_code();
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	for (int i = 0; f && i < 3; i++) {
		if (i == 2) /* the map is written anew */
			f = freopen(path, "w", f);
		fprintf(f, "%lx %x %s\n", (unsigned long)at, CODE_BYTES, names[i]);
		fflush(f);
		run(at);
	}
	unlink(path);
}

/* ---- the dump ---- */

static void put(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		_exit(1);
}

static void put_record(int fd, uint32_t id, const void *data, size_t size, const char *name)
{
	uint32_t head[2] = {id, (uint32_t)(16 + size + (name ? strlen(name) + 1 + sizeof(code) : 0))};
	uint64_t time = cpu_ns(CLOCK_MONOTONIC);

	put(fd, head, sizeof(head));
	put(fd, &time, sizeof(time));
	put(fd, data, size);
	if (name) {
		put(fd, name, strlen(name) + 1);
		put(fd, code, sizeof(code));
	}
}

static void load(int fd, const uint8_t *at, uint64_t index, const char *name)
{
	uint64_t l[5] = {(uint32_t)getpid(), (uintptr_t)at, (uintptr_t)at, CODE_BYTES, index};

	put_record(fd, 0, l, sizeof(l), name);
}

static void lines(int fd, const uint8_t *at, uint32_t line)
{
	struct {
		uint64_t of, n;
		struct { uint64_t addr; uint32_t line, discriminator; char file[8]; } entry[1];
	} d = {(uintptr_t)at, 1, {{(uintptr_t)at, line, 0, "f/src.x"}}};

	put_record(fd, 2, &d, sizeof(d), NULL);
}

static void by_dump(void)
{
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} head = {MARK, 1, 40, 0, 0, (uint32_t)getpid(), cpu_ns(CLOCK_MONOTONIC), 0};
	uint8_t *at = new_code();
	uintptr_t to = (uintptr_t)at + CODE_BYTES;
	uint64_t move[6] = {(uint32_t)getpid(), to, (uintptr_t)at, to, CODE_BYTES, 2};
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	put(fd, &head, sizeof(head));
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	load(fd, at, 1, "first_code");
	run(at);
	lines(fd, at, 12);
	load(fd, at, 2, "second_code");
	run(at);
	put_record(fd, 1, move, sizeof(move), NULL);
	run(at + CODE_BYTES);
	unlink(path);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "map"))
		by_map();
	else
		by_dump();
	return 0;
}
