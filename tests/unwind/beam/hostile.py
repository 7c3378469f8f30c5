#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE INTERPRETED - a process that looks like Erlang's runtime and has false data: strata prints each stack, a
wrong one with its mark; nothing hangs, crashes or grows, and no control character reaches the terminal. HOSTILE is
hostile.c, INTERPRETED is the same without JIT compiler, whose stacks say that frames are missing. Prints TAP."""
import os
import pathlib
import re
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import absent
import traced
from tap import Cases

STRATA, HOSTILE, INTERPRETED = sys.argv[1:]
CALLS = 200
LIMIT = 300
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1))  # STRATA_SLOW: how many times slower this machine is
MEGABYTES = 600  # of the tracer; with true data it needs about 100
SCRIPT = f'''uprobe:libc:getppid /pid == %d/ {{
    @calls = count();
    @deepest = max(len(beamstack));
    @p[beamstack(addr, {LIMIT})] = count();
    @u[ustack(addr, {LIMIT})] = count();
}}'''

UNREADABLE = '[interpreter frame not readable]'
# For each mode: the marks that the stack may end in, the least and the greatest number of Erlang's frames.
LIES = {
    'truth': ({''}, 5, 5),
    'truth-rbp': ({''}, 5, 5),
    'wild-stop': ({UNREADABLE}, 1, 1),
    'uneven-stop': ({UNREADABLE}, 1, 1),
    'stop-above': ({UNREADABLE}, 1, 1),
    'wild-process': ({UNREADABLE}, 1, 1),
    'wild-heap': ({UNREADABLE}, 1, 1),
    'endless-heap': ({UNREADABLE}, 1, 1),
    'no-end': ({UNREADABLE}, 5, 5),
    'wild-word': ({UNREADABLE}, 1, 5),
    'full': ({''}, 5, 20),
    'outside-functions': ({'', UNREADABLE}, 3, 5),
    'wild-atom': ({''}, 4, 5),
    'no-atom': ({''}, 4, 5),
    'wild-text': ({''}, 5, 5),
    'long-text': ({''}, 5, 5),
    'terminal': ({''}, 5, 5),
    'wild-segment': ({''}, 5, 5),
    'wild-lines': ({''}, 5, 5),
    'endless-lines': ({''}, 5, 5),
    'place': ({''}, 5, 5),
    'endless-name': ({''}, 5, 5),
    'wild-name': ({''}, 5, 5),
    'functions': ({''}, 4, 5),
    'wild-function': ({''}, 4, 5),
    'modules': ({''}, 0, 5),
    'wild-modules': ({''}, 0, 5),
    'random': ({'', UNREADABLE}, 1, 5),
    # The process is not taken for Erlang.
    'table-empty': (None, 0, 0),
    'table-wild': (None, 0, 0),
    'table-back': (None, 0, 0),
    'table-atoms': (None, 0, 0),
    'table-functions': (None, 0, 0),
    'table-key': ({UNREADABLE}, 1, 1),
}
NAMED = ('truth', 'truth-rbp')
NAMES = ['m24:f45/5 hostile.erl:15', 'm25:f44/4 hostile.erl:14', 'm26:f43/3 hostile.erl:13', 'm27:f42/2 hostile.erl:12']

cases = Cases()


def stacks(out):
    """Yields (lines, count) of @p."""
    for found in re.finditer(r'^@p\[(.*?)\]: (\d+)$', out, re.M | re.S):
        yield [line.strip() for line in found.group(1).splitlines() if line.strip()], int(found.group(2))


def complaints(out, elapsed, mode, lie):
    ends, least, most = lie
    calls = re.search(r'^@calls: (\d+)$', out, re.M)
    if elapsed > SECONDS:
        yield f'{elapsed:.0f} seconds'
    if not calls or int(calls.group(1)) != CALLS:
        yield 'calls are missing'
    if re.search(r'[\x00-\x08\x0b-\x1f\x7f]', out):
        yield 'control characters'
    if sum(n for _, n in stacks(out)) != CALLS:
        yield 'stacks are missing'
    for lines, _ in stacks(out):
        marks = [line for line in lines if re.fullmatch(r'\[[a-zA-Z ,]+\]', line) and line != '[no Erlang frames]']
        frames = [line for line in lines if not line.startswith('[')]
        if ends is not None and (marks[0] if marks else '') not in ends:
            yield f'marked {marks}'
        if not least <= len(frames) <= most:
            yield f'{len(frames)} frames'
        if mode in NAMED and least and frames[1:] != NAMES:
            yield f'names {frames}'


def run(mode, lie, program=HOSTILE):
    start = time.monotonic()
    process = traced.start(program, mode)
    process.stdout.readline()
    try:
        _, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    finally:
        process.kill()
        process.wait()
    out = b'\n'.join(printed).decode(errors='replace')
    wrong = list(complaints(out, time.monotonic() - start, mode, lie))
    if process.returncode:
        wrong.append(f'status {process.returncode}')
    cases.check(not wrong, f'{os.path.basename(program)} {mode}', '\n'.join([*wrong[:5], said.decode(errors='replace'), out[:2000]]))


def main():
    for mode, lie in LIES.items():
        run(mode, lie)
    run('truth', ({UNREADABLE}, 0, 0), INTERPRETED)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    cases.check(peak < MEGABYTES, f'the tracer stays below {MEGABYTES} MB', f'{peak} MB')
    return cases.done()


sys.exit(absent.as_root(main))
