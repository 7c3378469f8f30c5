#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE... - processes that look like Perl and have false data: strata prints each
stack, a wrong one with its mark; nothing hangs, crashes or grows, and no control character reaches the
terminal.

HOSTILE is hostile.c built as a version of Perl; the name ends in the version: hostile-perl-36. For unknown
builds no frame is shown, and each stack has a mark."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import absent
from tap import Cases

STRATA, *PROGRAMS = sys.argv[1:]
CALLS = 200
LIMIT = 500
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1)) # STRATA_SLOW: how many times slower this machine is
MEGABYTES = 600 # of the tracer; with true data it needs about 100
SCRIPT = f'''uprobe:libc:getppid {{
    @calls = count();
    @deepest = max(len(perlstack));
    @p[perlstack(addr, {LIMIT})] = count();
    @u[ustack(addr, {LIMIT})] = count();
}}'''

UNREADABLE = '[interpreter frame not readable]'
# For each mode: the marks that the stack may end in, the least and the greatest number of Perl frames. A sub that
# cannot be read is a frame without a name.
LIES = {
    'truth': ({''}, 5, 5),
    'wild-info': ({UNREADABLE, ''}, 0, 0),
    'wild-contexts': ({UNREADABLE}, 0, 0),
    'uneven-contexts': ({UNREADABLE, ''}, 0, 0),
    'low-contexts': ({UNREADABLE, ''}, 0, 0),
    'index': ({UNREADABLE, ''}, 0, 0),
    'negative': ({UNREADABLE, ''}, 0, 0),
    'cycle': ({''}, LIMIT, LIMIT),
    'empty-cycle': ({''}, 0, 0),
    'edge': ({UNREADABLE}, 0, 0),
    'wild-cop': ({UNREADABLE}, 5, 5),
    'lines': ({''}, 5, 5),
    'wild-sub': ({UNREADABLE}, 5, 5),
    'small-sub': ({UNREADABLE}, 5, 5),
    'type': ({UNREADABLE}, 5, 5),
    'wild-names': ({UNREADABLE}, 5, 5),
    'names': ({''}, 5, 5),
    'counts': ({UNREADABLE, ''}, 5, 5),
    'deleted': ({''}, 5, 5),
    'nameless': ({''}, 5, 5),
    'wild-package': ({UNREADABLE}, 5, 5),
    'latin': ({''}, 5, 5),
    'terminal': ({''}, 5, 5),
    'endless-file': ({''}, 5, 5),
    'evals': ({''}, 5, 5),
    'stale-eval': ({''}, 4, 4),
    'many': ({''}, 5, 5),
    'random': (None, 0, LIMIT),
}

# All subs of these have their own names.
NAMED = ('truth', 'deleted', 'stale-eval', 'lines')
NAME = re.compile(r'Liar::hostile |\(main\) ')

# Builds with an unknown layout.
UNKNOWN = ('-37', '-99')

cases = Cases()


def stacks(out):
    """Yields (lines, count) of @p."""
    for found in re.finditer(r'^@p\[(.*?)\]: (\d+)$', out, re.M | re.S):
        yield [line.strip() for line in found.group(1).splitlines() if line.strip()], int(found.group(2))


def complaints(status, out, elapsed, mode, lie):
    ends, least, most = lie
    calls = re.search(r'^@calls: (\d+)$', out, re.M)
    if status:
        yield f'status {status}'
    if elapsed > SECONDS:
        yield f'{elapsed:.0f} seconds'
    if not calls or int(calls.group(1)) != CALLS:
        yield 'calls are missing'
    if re.search(r'[\x00-\x08\x0b-\x1f\x7f]', out):
        yield 'control characters'
    if sum(n for _, n in stacks(out)) != CALLS:
        yield 'stacks are missing'
    for lines, _ in stacks(out):
        marks = [line for line in lines if re.fullmatch(r'\[[a-zA-Z ]+\]', line) and line != '[no Perl frames]']
        frames = [line for line in lines if not line.startswith('[')]
        if ends is not None and (marks[0] if marks else '') not in ends | {'[frame limit]'}:
            yield f'marked {marks}'
        if not least <= len(frames) <= most:
            yield f'{len(frames)} frames'
        if mode in NAMED and not all(map(NAME.match, frames)):
            yield f'names {frames}'
        if mode == 'nameless' and not all(re.match(r'__ANON__::hostile |\(main\) ', frame) for frame in frames):
            yield f'names {frames}'
        if mode == 'latin' and not all(re.match(r'été::été |\(main\) ', frame) for frame in frames):
            yield f'names {frames}'
        if any(line.endswith(':951424') for line in frames):
            yield f'lines {frames}'


def run(program, mode, lie):
    start = time.monotonic()
    try:
        done = subprocess.run([STRATA, '-e', SCRIPT, '-c', f'{program} {mode}'], capture_output=True,
                              timeout=2 * SECONDS)
        status, out, err = done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')
    except subprocess.TimeoutExpired:
        status, out, err = 'time out', '', ''
    wrong = list(complaints(status, out, time.monotonic() - start, mode, lie))
    cases.check(not wrong, f'{os.path.basename(program)} {mode}', '\n'.join([*wrong[:5], err, out[:2000]]))


def main():
    for program in PROGRAMS:
        if program.endswith(UNKNOWN):
            run(program, 'truth', ({UNREADABLE}, 0, 0))
            continue
        for mode, lie in LIES.items():
            run(program, mode, lie)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    cases.check(peak < MEGABYTES, f'the tracer stays below {MEGABYTES} MB', f'{peak} MB')
    return cases.done()


sys.exit(absent.as_root(main))
