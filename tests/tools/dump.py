#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dump.py STRATA - dump and --unwind of processes that are hard to walk: many threads, a thread that does not stop
(state D), more mappings than are kept."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import waits
from tap import Cases

STRATA = sys.argv[1]
THREADS = 1000
PROG = r'''
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void inner(int n)
{
    if (n) { inner(n - 1); __asm__ volatile(""); return; }
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    inner(3);
    return arg;
}

static void threads(int n)
{
    pthread_attr_t small;
    pthread_t t;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++)
        if (pthread_create(&t, &small, work, NULL))
            exit(1);
}

/* The parent waits in state D until the child, which has its memory, ends. */
__attribute__((noinline)) static int blocked(int n)
{
    int r;

    if (n) { r = blocked(n - 1); __asm__ volatile(""); return r; }
    r = vfork();
    if (!r) {
        write(1, "ready\n", 6);
        pause();
        _exit(0);
    }
    return r;
}

/* Neighbours of different access are mappings of their own. */
static void mappings(int n)
{
    char *p = mmap(NULL, 8192ul * n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < n; i++)
        mprotect(p + 8192ul * i, 4096, PROT_READ | PROT_EXEC);
}

int main(int argc, char **argv)
{
    if (!strcmp(argv[1], "threads"))
        threads(atoi(argv[2]));
    else if (!strcmp(argv[1], "mappings"))
        mappings(atoi(argv[2]));
    else
        return blocked(4);
    write(1, "ready\n", 6);
    pause();
    return 0;
}
'''


class Running:
    """The program, after it has reported that it is ready; its child ends with it."""
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        self.pid = self.process.pid
        self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.pid, 9)
        self.process.wait()


def run(*command, **options):
    """Returns the standard output, the messages, and the seconds that it took."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, **options)
    return done.stdout, done.stderr, time.monotonic() - start


def before_others():
    """Runs before all other programs, so that none takes the CPU away while a thread is held."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def many_threads(cases, prog):
    with Running(prog, 'threads', str(THREADS)) as p:
        out, said, seconds = run(STRATA, 'dump', '-v', '-p', str(p.pid))
        _, alone, _ = run(STRATA, 'dump', '-v', '-p', str(p.pid), preexec_fn=before_others)
        held = re.search(r'was held for at most (\d+) us', alone)
        plain, _, _ = run(STRATA, '--unwind', str(p.pid))
        theirs, _, peer = run('gdb', '-p', str(p.pid), '-batch', '-ex', 'thread apply all bt')
    cases.check(out.count('\nThread ') == THREADS + 1 and len(re.findall(r'^ +inner[+ ]', out, re.M)) == 4 * THREADS,
                f'dump of {THREADS} threads', out[-500:], said)
    cases.check(plain.count('\nThread ') == THREADS + 1 and len(re.findall(r'^ +inner[+ ]', plain, re.M)) == 4 * THREADS,
                f'--unwind of {THREADS} threads', plain[-500:])
    cases.check(theirs.count('inner (') >= THREADS and seconds <= 1.5 * peer, "at most 1.5 x gdb's time",
                f'{seconds:.2f} s and {peer:.2f} s')
    cases.check(held and int(held[1]) <= 5000, 'no thread is held for more than 5 ms', alone)


def uninterruptible(cases, prog):
    with Running(prog, 'blocked') as p:
        waits.until(lambda: waits.state(p.pid) == 'D', 'the program to wait for its child')
        for command in (['dump', '-p', str(p.pid)], ['--unwind', str(p.pid)]):
            out, said, _ = run(STRATA, *command)
            tracer = re.search(r'TracerPid:\s*(\d+)', pathlib.Path(f'/proc/{p.pid}/status').read_text())[1]
            frames = [line.split()[0].split('+')[0] for line in out.splitlines() if line.startswith('    ')]
            kernel = [line for line in out.splitlines() if line.endswith('[kernel]')]
            cases.check('(state D)' in out and kernel and frames.count('blocked') == 5 and 'main' in frames and tracer == '0',
                        f'{command[0]} of a thread in state D', out, said, tracer)
            if command[0] == 'dump':
                cases.check(re.search(r'\) uninterruptible \(state D\) in \w*(fork|clone)\w*, at \w+$', out, re.M),
                            'dump: the system call and the place in the kernel', out)


def many_mappings(cases, prog):
    with Running(prog, 'mappings', '9000') as p:
        out, said, _ = run(STRATA, 'dump', '-p', str(p.pid))
        cases.check(f'process {p.pid} has more than 8192 executable mappings' in said and 'Thread ' in out,
                    'more mappings than are kept', out, said)


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    prog = f'{dir}/prog'
    subprocess.run(['cc', '-O1', '-g', '-w', '-pthread', '-o', prog, '-xc', '-'], input=PROG, text=True, check=True)
    many_threads(cases, prog)
    uninterruptible(cases, prog)
    many_mappings(cases, prog)
sys.exit(cases.done())
