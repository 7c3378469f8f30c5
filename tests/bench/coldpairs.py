#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coldpairs.py [-n ROUNDS] [-s STATEMENT].. [-p LANGUAGE] STRATA.. - the time of a statement in a cold sample of
each build, and the ratio to the first build's. All builds sample the same processes at the same time, at rates that
rarely meet, because other work on the machine changes the caches from second to second.

    tests/bench/coldpairs.py -s '@[1] = count()' -s '@[ustack] = count()' build/release/src/strata"""
import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'unwind' / 'v8'))
import binaries
import cold
import interpreters
import java
import javas
import ruby

RATES = (71, 73, 79, 83, 67, 61, 59, 89)
SAMPLES = 150 # of each, in a round; the first ones fill its own caches
FIRST = 30
SECONDS = 60 # at most, for a round


def start(strata, statement, rate, pids):
    mine = ' || '.join(f'pid == {pid}' for pid in pids)
    script = (f'profile:hz:{rate} /{mine}/ {{ $at = nsecs; {statement}; printf("%d\\n", nsecs - $at); @seen = count(); '
              f'if (@seen > {SAMPLES}) {{ exit(); }} }}')
    return subprocess.Popen([strata, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def times_of(child):
    text = child.communicate(timeout=SECONDS)[0]
    times = [int(line) for line in text.split('\n') if line.isdigit()][FIRST:]
    if not times:
        raise RuntimeError(f'no samples: {text[:200]}')
    return statistics.median(times)


def java_program(work):
    javas.compiled(java.SOURCE, work)
    return java.cold_command(work)


PROGRAMS = {
    'native': cold.native_program,
    'python': lambda work: cold.python_program(),
    'javascript': lambda work: cold.javascript_program(str(binaries.node('26'))),
    'java': java_program,
    'ruby': lambda work: ruby.cold_command(),
    **interpreters.PROGRAMS,
}


def draw(command, cases):
    """The median ns of each case."""
    rates = random.sample(RATES, len(cases))
    with cold.two(command) as pids:
        children = [start(*case, rate, pids) for case, rate in zip(cases, rates)]
        return [times_of(child) for child in children]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('-n', type=int, default=9, help='number of rounds')
    p.add_argument('-s', action='append', help='statement (@[ustack] = count())')
    p.add_argument('-p', choices=PROGRAMS, default='native', help='sampled program')
    p.add_argument('strata', nargs='+')
    args = p.parse_args()
    cases = [(strata, s) for s in args.s or ['@[ustack] = count()'] for strata in args.strata]
    if len(cases) > len(RATES):
        p.error(f'at most {len(RATES)} cases')
    with tempfile.TemporaryDirectory(dir='/tmp') as work:
        command = PROGRAMS[args.p](pathlib.Path(work))
        rows = [draw(command, cases) for _ in range(args.n)]
    for case, times, ratios in zip(cases, zip(*rows), zip(*([t / row[0] for t in row] for row in rows))):
        print(f'{statistics.median(times) / 1e3:6.2f} us, ratio {statistics.median(ratios):.3f} '
              f'[{min(ratios):.2f} {max(ratios):.2f}]  {case[1]}  {case[0]}')


if __name__ == '__main__':
    main()
