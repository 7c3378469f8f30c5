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
KEYS = 1000
LEAST = 3        # windows, and more
EVENTS = 20000 if 'STRATA_FEW' in os.environ else 400000 # of each thread, at least
PROG = '''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static long least;
static char *more; /* while this file is there, the threads go on */
static void *run(void *events)
{
    long n = 0;
    while (n < least || !access(more, F_OK))
        for (long i = 0; i < 1000; i++, n++)
            syscall(SYS_getpgid, -1 - i);
    *(long *)events = n;
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    long events[2];
    FILE *made;
    least = atol(argv[1]);
    more = argv[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, &events[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    made = fopen(argv[3], "w");
    fprintf(made, "%ld", events[0] + events[1]);
    return fclose(made);
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
    """Runs the program until its events are in more than LEAST windows.

    Returns strata's status and output, the sums of the windows by map, and the number of events that were made."""
    more, made = f'{prog}.more', pathlib.Path(f'{prog}.made')
    pathlib.Path(more).touch()
    made.unlink(missing_ok=True)
    script = (config + 'let @few = percpulruhash(2000); tracepoint:syscalls:sys_enter_getpgid { ' +
              '; '.join(MAPS.values()).replace('};', '}') + ' } ' + (f'interval:ms:50 {{ {prints} }}' if prints else ''))
    process = subprocess.Popen(['timeout', '100', STRATA, '-q', '-e', script, '-c', f'{prog} {EVENTS} {more} {made}'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sums, seen, map, lines = collections.Counter(), 0, None, []
    for line in process.stdout:
        lines.append(line)
        named = re.match(r'@(\w+)', line)
        map = named.group(1) if named else map
        value = re.search(r'(?:: |^\[1\] +)(\d+)(?: \|@+\|)?$', line)
        if value:
            sums[map] += int(value.group(1))
            seen += map == 'scalar'
            if seen == LEAST + 1:
                pathlib.Path(more).unlink(missing_ok=True)
    errors = process.communicate()[1]
    events = int(made.read_text()) if made.exists() else 0
    return process.returncode, ''.join(lines), errors, sums, events


def exact(map, sums, events):
    return events and sums[map] == events // (KEYS if map == 'stacks' else 1)


def last_is_empty(prog):
    """All events are in the first windows, and the end has none. Returns what strata says."""
    script = 'tracepoint:syscalls:sys_enter_getpgid { @n = count(); }'
    process = subprocess.Popen(['timeout', '100', STRATA, '--window', '50ms', '-e', script, '-c', f'sh -c "{prog} 1 {prog}.none {prog}.made; read x"'],
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
    with tempfile.TemporaryDirectory() as dir:
        prog = f'{dir}/prog'
        subprocess.run(['cc', '-O1', '-pthread', '-o', prog, '-xc', '-'], input=PROG, text=True, check=True)
        each = ' '.join(f'print(@{map}); clear(@{map});' for map in MAPS)
        status, _, errors, sums, events = windows(prog, each)
        for map in MAPS:
            cases.check(exact(map, sums, events) and not status, f'@{map}: {sums[map]} of {events} events', errors)
        both = ' '.join(f'print(@{map});' for map in MAPS) + ' if (true) { print("-") } ' + ' '.join(f'clear(@{map});' for map in MAPS)
        status, _, errors, sums, events = windows(prog, both)
        cases.check(all(exact(map, sums, events) for map in MAPS) and not status,
                    'with other statements between print() and clear()', sums, events, errors)
        status, output, errors, sums, events = windows(prog, '', 'config = { window = 50ms } ')
        cases.check(all(exact(map, sums, events) for map in MAPS) and not status, 'config window', sums, events, errors)
        cases.check(re.search(r'^\d\d:\d\d:\d\d$', output, re.M), 'a window begins with the time', output[:500])
        said = last_is_empty(prog)
        cases.check('Attached' in said and 'no events' not in said, 'an empty window at the end is no silence', said)
    return cases.done()


sys.exit(main())
