#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py STRATA HOSTILE... - processes that look like CPython and have false data: strata prints
every stack, a wrong one with its mark; nothing hangs, crashes or grows, and no control character
reaches the terminal.

HOSTILE is hostile.c built as a version of CPython; the name ends in the version: hostile-3.11."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, *PROGRAMS = sys.argv[1:]
CALLS = 200
LIMIT = 500
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1)) # STRATA_SLOW: how many times slower this machine is
MEGABYTES = 600 # of the tracer; with true data it needs about 100
SCRIPT = f'''uprobe:libc:getppid {{
    @calls = count();
    @deepest = max(len(pystack));
    @p[pystack(addr, {LIMIT})] = count();
    @u[ustack(addr, {LIMIT})] = count();
}}'''

UNREADABLE = '[interpreter frame not readable]'
# For each mode: the marks that the stack may end in, the least and the greatest number of Python
# frames. A code object that cannot be read is a frame named '?'.
LIES = {
    'truth': ({''}, 4, 4),
    'cycle': ({''}, LIMIT, LIMIT),
    'self': ({''}, LIMIT, LIMIT),
    'shims': ({''}, 0, LIMIT),
    'wild-code': ({UNREADABLE}, 4, 4),
    'wild-frame': ({UNREADABLE}, 2, 2),
    'edge-frame': ({UNREADABLE}, 2, 2),
    'edge-code': ({UNREADABLE}, 4, 4),
    'no-code': ({'', UNREADABLE}, 1, 4),
    'names': ({''}, 4, 4),
    'terminal': ({''}, 4, 4),
    'lines': ({''}, 4, 4),
    'lines-negative': ({UNREADABLE}, 4, 4),
    'instr': ({'', UNREADABLE}, 0, 4),
    'many': ({''}, 4, 4),
}
ANYTHING = (None, 0, LIMIT)

cases = Cases()


def pystacks(out):
    """(lines, count) of @p."""
    for found in re.finditer(r'^@p\[(.*?)\]: (\d+)$', out, re.M | re.S):
        yield [line.strip() for line in found.group(1).splitlines() if line.strip()], int(found.group(2))


def complaints(status, out, elapsed, lie):
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
    if sum(n for _, n in pystacks(out)) != CALLS:
        yield 'stacks are missing'
    for lines, _ in pystacks(out):
        marks = [line for line in lines if re.fullmatch(r'\[[a-z ]+\]', line)]
        if ends is not None and (marks[0] if marks else '') not in ends:
            yield f'marked {marks}'
        if not least <= len(lines) - len(marks) <= most:
            yield f'{len(lines) - len(marks)} frames'


def run(program, mode, lie):
    start = time.monotonic()
    try:
        done = subprocess.run([STRATA, '-e', SCRIPT, '-c', f'{program} {mode}'], capture_output=True,
                              timeout=2 * SECONDS)
        status, out, err = done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')
    except subprocess.TimeoutExpired:
        status, out, err = 'time out', '', ''
    wrong = list(complaints(status, out, time.monotonic() - start, lie))
    cases.check(not wrong, f'{os.path.basename(program)} {mode}', '\n'.join([*wrong[:5], err, out]))


if os.geteuid():
    print('1..0 # skipped: not root')
    sys.exit(0)
for program in PROGRAMS:
    if program.endswith(('3.11', '3.12')):
        for mode, (ends, least, most) in LIES.items():
            run(program, mode, (ends, least - (least == 4 and program.endswith('3.12')), most))
    else:
        for mode in ('offsets-huge', 'offsets-zero', 'offsets-random 1', 'offsets-random 2', 'offsets-random 3',
                     'offsets-wild 1'):
            run(program, mode, ANYTHING)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
cases.check(peak < MEGABYTES, f'the tracer stays below {MEGABYTES} MB', f'{peak} MB')
sys.exit(cases.done())
