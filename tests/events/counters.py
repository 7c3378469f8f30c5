#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""counters.py STRATA - software and hardware events, watchpoints and iterators: the numbers are known."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from features import features
from tap import Cases

STRATA = sys.argv[1]
WRITES, THREADS, PAGES = 1000, 3, 500
PROG = f'''
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
volatile long watched __attribute__((aligned(64))) = 1, beside = 1;
static void *run(void *arg)
{{
    for (int i = 0; i < {WRITES}; i++)
        watched = i, beside = watched;
    return 0;
}}
__attribute__((noinline)) void called(void) {{ __asm__ volatile(""); }}
int main(void)
{{
    pthread_t t[{THREADS}];
    char *p = mmap(0, {PAGES} * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(p, {PAGES} * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < {PAGES}; i++)
        p[i * 4096] = 1;
    for (int i = 0; i < {THREADS}; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < {THREADS}; i++)
        pthread_join(t[i], 0);
    for (int i = 0; i < 7; i++)
        called();
    return 0;
}}
'''


def strata(script, *args):
    run = subprocess.run(['timeout', '20', STRATA, *args, '-e', script], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def symbol(prog, name):
    table = subprocess.run(['nm', prog], capture_output=True, text=True, check=True).stdout
    return '0x' + re.search(rf'^(\w+) \w {name}$', table, re.M).group(1)


def watched(cases, prog):
    at, code = symbol(prog, 'watched'), symbol(prog, 'called')
    total = WRITES * THREADS
    got = strata(f'watchpoint:{at}:8:w {{ @w = count(); }} w:{at}:4:rw {{ @rw = count(); }} '
                 f'w:{code}:8:x {{ @x = count(); }}', '-c', prog)
    seen = dict((k, int(v)) for k, v in re.findall(r'^@(\w+): (\d+)$', got[1], re.M))
    cases.check(seen == {'w': total, 'rw': 2 * total, 'x': 7}, f'writes, reads and calls of all threads: {seen}', got)
    got = strata(f'w:{at}:8:w {{ @[tid] = count(); }}', '-c', prog)
    seen = [int(n) for n in re.findall(r': (\d+)$', got[1], re.M)]
    cases.check(seen == [WRITES] * THREADS, f'threads that began later have them: {seen}', got)


def kernel(cases):
    """A task_struct has the number of times that its task has slept."""
    sleeper = subprocess.Popen([sys.executable, '-c', 'import time\nwhile True: time.sleep(0.01)'])
    try:
        _, out, _ = strata(f't:raw_syscalls:sys_enter /pid == {sleeper.pid}/ '
                           '{ print((uint64)curtask + offsetof(struct task_struct, nvcsw)); exit(); }')
        at = int(out.split()[0])
        got = strata(f'w:{at}:8:w {{ @[comm] = count(); }} interval:ms:500 {{ exit(); }}')
    finally:
        sleeper.kill()
        sleeper.wait()
    n = sum(map(int, re.findall(r'^@\[.*\]: (\d+)$', got[1], re.M)))
    cases.check(10 <= n <= 100, f'a word of the kernel: {n}', at, got)


def refused(cases):
    got = strata('w:0x10000:8:w { } interval:s:2 { exit(); }', '--no-feature', 'watchpoint')
    cases.check(got[0] == 1 and 'do not fire on this machine' in got[2], 'no watchpoints: the message says so', got)


def software(cases, prog):
    got = strata('software:page-faults:1 { @one = count(); } s:faults:10 { @ten = count(); } s:faults { @all = count(); }',
                 '-c', prog)
    seen = dict((k, int(v)) for k, v in re.findall(r'^@(\w+): (\d+)$', got[1], re.M))
    one, ten, default = (seen.get(k, 0) for k in ('one', 'ten', 'all'))
    cases.check(PAGES <= one <= PAGES + 1000 and abs(one - 10 * ten) <= 100 and 1 <= default <= one / 50,
                f'page faults, by count: {seen}', got)
    got = strata('s:cs:1 { @ = count(); } interval:ms:300 { exit(); }')
    cases.check(re.search(r'^@: [1-9]\d*$', got[1], re.M), 'context switches', got)


def iterators(cases):
    """The threads of this process stay; those of other processes come and go."""
    done = threading.Event()
    mine = [threading.Thread(target=done.wait) for _ in range(40)]
    for thread in mine:
        thread.start()
    got = strata(f'iter:task {{ @ = count(); if (ctx.task.tgid == {os.getpid()}) {{ @mine[ctx.task.pid] = count(); }} }} '
                 'iter:bpf_prog { @progs = count(); }')
    seen = {int(tid): int(n) for tid, n in re.findall(r'^@mine\[(\d+)\]: (\d+)$', got[1], re.M)}
    tids = [int(tid) for tid in os.listdir('/proc/self/task')]
    done.set()
    n = int((re.findall(r'^@: (\d+)$', got[1], re.M) or [0])[0])
    cases.check(seen == dict.fromkeys(tids, 1) and len(tids) > 40 and n > len(tids) and '@progs: ' in got[1],
                f'each task once: {len(seen)} of {len(tids)}', got)
    got = strata('iter:ksym { printf("%s\\n", str(ctx.ksym.name)); @ = count(); }')
    lines = got[1].splitlines()
    n = int((re.findall(r'^@: (\d+)$', got[1], re.M) or [0])[0])
    cases.check(n > 10000 and len(lines) == n + 3 and 'Lost' not in got[2],
                f'more output than the ring buffer holds is complete: {n}', len(lines), got[2])


def hardware(cases):
    got = strata('hardware:cycles { @ = 1; exit(); } interval:s:2 { exit(); }')
    works = got[0] == 0 and '@: 1' in got[1]
    said = got[0] == 1 and 'no PMU' in got[2] and 'software:cpu-clock' in got[2]
    cases.check(works or said, 'cycles: ' + ('counted' if works else 'the message says that there is no PMU'), got)


if os.geteuid():
    print('1..0 # skipped: not root')
    sys.exit(0)
cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    prog = f'{dir}/prog'
    subprocess.run(['cc', '-x', 'c', '-O1', '-w', '-static', '-no-pie', '-o', prog, '-'], input=PROG.encode(), check=True)
    software(cases, prog)
    if 'watchpoint' in features(STRATA):
        watched(cases, prog)
        kernel(cases)
    else:
        cases.skip('watchpoints', 'needs feature:watchpoint')
refused(cases)
iterators(cases)
hardware(cases)
sys.exit(cases.done())
