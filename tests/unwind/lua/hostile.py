#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE... - processes that look like Lua and have false data: strata prints each stack, a wrong one
with its mark; nothing hangs, crashes or grows, and no control character reaches the terminal.

HOSTILE is hostile.c built as a kind of Lua; the name ends in the kind: hostile-lua-4, hostile-lua-jit. For an unknown
version no frame is shown, and each stack has a mark."""
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
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1))  # STRATA_SLOW: how many times slower this machine is
MEGABYTES = 600  # of the tracer; with true data it needs about 100
SCRIPT = f'''uprobe:libc:getppid {{
    @calls = count();
    @deepest = max(len(luastack));
    @p[luastack(addr, {LIMIT})] = count();
    @u[ustack(addr, {LIMIT})] = count();
}}'''

UNREADABLE = '[interpreter frame not readable]'
# For each mode: the marks that the stack may end in, the least and the greatest number of Lua frames; a kind of hostile.c
# has no such mode: those are the true frames. A function that cannot be read is a frame without a name.
LIES = {
    'truth': ({''}, 5, 5),
    'wild-state': ({UNREADABLE}, 0, 0),
    'wild-frame': ({UNREADABLE}, 0, 0),
    'uneven-frame': ({UNREADABLE}, 0, 0),
    'edge': ({UNREADABLE}, 0, 1),
    'cycle': ({'', UNREADABLE}, 0, LIMIT),
    'self': ({'', UNREADABLE}, 0, LIMIT),
    'empty-cycle': ({''}, 2, 5),
    'varargs': ({''}, 4, 5),
    'wild-link': ({UNREADABLE}, 2, 5),
    'code': ({UNREADABLE, ''}, 2, 5),
    'long': ({UNREADABLE, ''}, 2, 5),
    'places': ({''}, 5, 5),
    'wild-name': ({UNREADABLE, ''}, 5, 5),
    'uneven-name': ({UNREADABLE, ''}, 5, 5),
    'no-name': ({UNREADABLE, ''}, 5, 5),
    'endless-name': ({''}, 5, 5),
    'terminal': ({''}, 5, 5),
    'size': ({''}, 5, 5),
    'first-line': ({''}, 5, 5),
    'lines': ({''}, 5, 5),
    'many': ({''}, 5, 5),
    'random': (None, 0, LIMIT),
}

# All functions of these have their own names.
NAMED = ('truth', 'places', 'size', 'many')
NAME = re.compile(r'function <hostile\d*\.lua:\d+> hostile\d*\.lua:|main chunk hostile\d*\.lua')
UNKNOWN = ('-9',)

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
        marks = [line for line in lines if re.fullmatch(r'\[[a-zA-Z ]+\]', line) and line != '[no Lua frames]']
        frames = [line for line in lines if not line.startswith('[')]
        if ends is not None and (marks[0] if marks else '') not in ends | {'[frame limit]', '[limit reached]'}:
            yield f'marked {marks}'
        if not least <= len(frames) <= most:
            yield f'{len(frames)} frames'
        if mode in NAMED and not all(map(NAME.match, frames)):
            yield f'names {frames}'


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
