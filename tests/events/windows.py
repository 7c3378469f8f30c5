#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""windows.py STRATA - print(@x); clear(@x) in one block loses no event: the windows of each map add up to the number
of events of a program whose threads change it at any time."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
THREADS, KEYS = 2, 1000
EVENTS = 20000 if 'STRATA_FEW' in os.environ else 400000 # of each thread
PROG = '''
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static long n;
static void *run(void *arg)
{
    for (long i = 0; i < n; i++)
        syscall(SYS_getpgid, -1 - i % 1000);
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    n = atol(argv[1]);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
'''
MAPS = {
    # map: statement, map's kind if it is declared
    'counts': '@counts[args.pid] = count()',
    'sums': '@sums[args.pid, probe] = sum(1)',
    'scalar': '@scalar = count()',
    'lhists': '@lhists[args.pid % 7] = lhist(1, 0, 2, 1)',
    'few': '@few[args.pid % 3] = count()',
    'stacks': 'if (args.pid == -1) { @stacks[ustack(1)] = count(); }',
}


def windows(prog, prints, config=''):
    script = (config + 'let @few = percpulruhash(2000); tracepoint:syscalls:sys_enter_getpgid { ' +
              '; '.join(MAPS.values()).replace('};', '}') + ' } ' + (f'interval:ms:50 {{ {prints} }}' if prints else ''))
    done = subprocess.run(['timeout', '100', STRATA, '-q', '-e', script, '-c', f'{prog} {EVENTS}'], capture_output=True, text=True)
    sums, times, map = collections.Counter(), collections.Counter(), None
    for line in done.stdout.splitlines():
        named = re.match(r'@(\w+)', line)
        map = named.group(1) if named else map
        value = re.search(r'(?:: |^\[1\] +)(\d+)(?: \|@+\|)?$', line)
        if value:
            sums[map] += int(value.group(1))
            times[map] += 1
    return done, sums, times


def last_is_empty(prog):
    """All events are in the first windows, and the end has none. Returns what strata says."""
    script = 'tracepoint:syscalls:sys_enter_getpgid { @n = count(); }'
    process = subprocess.Popen(['timeout', '100', STRATA, '--window', '50ms', '-e', script, '-c', f'sh -c "{prog} 1; read x"'],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    times = 0
    for line in process.stdout:
        times = 0 if line.startswith('@n') else times + (':' in line)
        if times == 3:
            break
    return process.communicate()[1]


def main():
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    cases = Cases()
    wanted = {map: THREADS * EVENTS // (KEYS if map == 'stacks' else 1) for map in MAPS}
    with tempfile.TemporaryDirectory() as dir:
        prog = f'{dir}/prog'
        subprocess.run(['cc', '-O1', '-pthread', '-o', prog, '-xc', '-'], input=PROG, text=True, check=True)
        each = ' '.join(f'print(@{map}); clear(@{map});' for map in MAPS)
        done, sums, times = windows(prog, each)
        for map in MAPS:
            cases.check(sums[map] == wanted[map] and not done.returncode, f'@{map}: {sums[map]} of {wanted[map]} events', done.stderr)
        cases.check(times['scalar'] > 3, f'the program ran for several windows: {times["scalar"]}', done.stderr)
        both = ' '.join(f'print(@{map});' for map in MAPS) + ' if (true) { print("-") } ' + ' '.join(f'clear(@{map});' for map in MAPS)
        done, sums, _ = windows(prog, both)
        cases.check(all(sums[map] == wanted[map] for map in MAPS), 'with other statements between print() and clear()',
                    sums, done.stderr)
        done, sums, times = windows(prog, '', 'config = { window = 50ms } ')
        cases.check(all(sums[map] == wanted[map] for map in MAPS) and times['scalar'] > 3, 'config window', sums, done.stderr)
        cases.check(re.search(r'^\d\d:\d\d:\d\d$', done.stdout, re.M),
                    'a window begins with the time', done.stdout[:500])
        said = last_is_empty(prog)
        cases.check('Attached' in said and 'no events' not in said, 'an empty window at the end is no silence', said)
    return cases.done()


sys.exit(main())
