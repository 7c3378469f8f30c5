#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""losses.py STRATA - while strata is stopped, a program on each CPU makes more events than the ring buffer
has space for: the numbers of printed and of lost events add up to the number of events, for each probe and
CPU, as text and as JSON."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import waits
from tap import Cases

STRATA = sys.argv[1]
EVENTS = 40000  # of each probe and CPU; the ring has space for 2048 at most
PROG = '''
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void one(void) { __asm__ volatile(""); }
__attribute__((noinline)) void two(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    char byte;

    read(0, &byte, 1);
    for (int i = 2; i < argc; i++)
        if (!fork()) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(atoi(argv[i]), &set);
            if (sched_setaffinity(0, sizeof(set), &set))
                return 1;
            for (int k = 0; k < n; k++)
                one(), two();
            return 0;
        }
    while (wait(0) > 0)
        ;
    write(1, "x", 1);
    return 0;
}
'''
# The same probes with a cookie for each place, and as separate probes.
SCRIPTS = {
    'wildcard': 'uprobe:%s:one, uprobe:%s:two { @[func, cpu] = count(); printf("%%s %%d %%s\\n", func, cpu, str(0)); }',
    'own': 'uprobe:%s:one { @["one", cpu] = count(); printf("one %%d\\n", cpu); } '
           'uprobe:%s:two { @["two", cpu] = count(); printf("two %%d\\n", cpu); }',
}


def run(prog, script, form, cpus):
    """Returns (printed, lost, happened) of one burst, each by (function, CPU)."""
    script = 'config = { perf_rb_pages = 16 } ' + script % (prog, prog)
    burst = subprocess.Popen([prog, str(EVENTS), *map(str, cpus)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    strata = subprocess.Popen([STRATA, '-f', form, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
    attached = strata.stdout if form == 'json' else strata.stderr
    for line in attached:
        if 'ttached' in line:
            break
    os.kill(strata.pid, signal.SIGSTOP)
    burst.stdin.write(b'x')
    burst.stdin.flush()
    burst.stdout.read(1)
    burst.wait()
    os.kill(strata.pid, signal.SIGCONT)
    waits.idle(strata.pid)
    os.kill(strata.pid, signal.SIGINT)
    out, err = strata.communicate(timeout=60)
    return read_json(out) if form == 'json' else read_text(out, err)


def read_text(out, err):
    total = sum(map(int, re.findall(r'Lost (\d+) events', err)))
    printed = collections.Counter((f, int(cpu)) for f, cpu in re.findall(r'^(one|two) (\d+)', out, re.M))
    happened = {(f, int(cpu)): int(n) for f, cpu, n in re.findall(r'^@\[(\w+), (\d+)\]: (\d+)$', out, re.M)}
    lost = {(f, int(cpu)): int(n) for n, f, cpu in re.findall(r'(\d+) of uprobe:\S+:(\w+) on CPU (\d+)', err)}
    return printed, lost, happened, total


def read_json(out):
    lines = [json.loads(line) for line in out.splitlines()]
    printed, lost, happened, total = collections.Counter(), {}, {}, 0
    for line in lines:
        if line['type'] == 'printf':
            f, cpu = line['data'].split()[:2]
            printed[f, int(cpu)] += 1
        elif line['type'] == 'map':
            happened = {tuple(e['key']): e['value'] for e in line['entries']}
        elif line['type'] == 'lost_events':
            total += line['data']['events']
            lost.update({(p['probe'].rsplit(':', 1)[1], p['cpu']): p['events'] for p in line['probes']})
    return printed, lost, happened, total


def check(cases, prog, name, form, cpus):
    printed, lost, happened, total = run(prog, SCRIPTS[name], form, cpus)
    wanted = {(f, cpu): EVENTS for f in ('one', 'two') for cpu in cpus}
    sums = {key: printed[key] + lost.get(key, 0) for key in wanted}
    cases.check(happened == wanted and sums == wanted and total == sum(lost.values()) and total > EVENTS,
                f'{name}, {form}: printed {sum(printed.values())} and lost {total}', printed, lost, happened, total)


if os.geteuid():
    print('1..0 # skipped: not root')
    sys.exit(0)
cases = Cases()
cpus = sorted(os.sched_getaffinity(0))[:2]
with tempfile.TemporaryDirectory() as dir:
    prog = f'{dir}/prog'
    subprocess.run(['cc', '-x', 'c', '-O1', '-w', '-o', prog, '-'], input=PROG.encode(), check=True)
    for name in SCRIPTS:
        for form in ('text', 'json'):
            check(cases, prog, name, form, cpus)
sys.exit(cases.done())
