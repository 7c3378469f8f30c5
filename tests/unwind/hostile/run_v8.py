#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_v8.py [--held] STRATA HOSTILE COMPRESSED - processes that look like node and have false data
(hostile_v8.c): strata prints every stack; nothing hangs, crashes or grows, and no control character reaches
the terminal. With --held it uses --unwind of a waiting process, otherwise it traces the process, as root.
COMPRESSED is the program that announces compressed pointers."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import waits
from tap import Cases

HELD = sys.argv[1] == '--held'
STRATA, HOSTILE, COMPRESSED = sys.argv[2:] if HELD else sys.argv[1:]
CALLS = 200
LIMIT = 500
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1)) # STRATA_SLOW: how many times slower this machine is
MEGABYTES = 700 # of the tracer; with true data it needs about 100
SCRIPT = f"""uprobe:libc:getppid {{
    @calls = count();
    @j[jsstack({LIMIT})] = count();
    @u[ustack({LIMIT})] = count();
}}"""
TRUTH = ['hostile0 /hostile.js:3:5', 'hostile1 /hostile.js:3:5', 'hostile2 /hostile.js:3:5', 'hostile3 /hostile.js:3:5']
# The least and the greatest number of JavaScript frames.
LIES = {
    'truth': (4, 4), 'many': (4, 4), 'self': (1, LIMIT), 'cycle': (0, LIMIT), 'flip': (0, 5),
    'wild-functions': (0, 4), 'wild-shared': (0, 4), 'wild-script': (0, 4), 'map-self': (2, 4), 'edge': (2, 4),
    'offsets': (4, 4), 'scope-huge': (4, 4), 'scope-negative': (4, 4), 'lines-long': (4, 4), 'lines-many': (4, 4),
    'source-long': (4, 4), 'positions-endless': (4, 4), 'positions-long': (4, 4), 'positions-negative': (4, 4),
    'inlined-cycle': (4, 100), 'inlined-far': (4, 4), 'code-size': (4, 4), 'baseline': (4, 4), 'streams': (4, 4),
    'cons-cycle': (4, 4), 'thin-cycle': (4, 4), 'sliced-cycle': (4, 4), 'cons-tree': (4, 4), 'name-long': (4, 4),
    'script-long': (4, 4), 'external': (4, 4), 'terminal': (4, 4),
}
cases = Cases()


def is_native(line):
    return re.search(r'\+(0x[0-9a-f]+|\d+)$|^0x[0-9a-f]+$|^_start$| \S+\.[chS]:\d+$', line)


def stacks_traced(out):
    for found in re.finditer(r'^@j\[(.*?)^\]: (\d+)$', out, re.M | re.S):
        yield [line.strip() for line in found.group(1).splitlines() if line.strip()], int(found.group(2))


def stacks_held(out):
    for part in out.split('\n\n')[1:2]: # the first one names the process
        lines = [line.strip() for line in part.splitlines()[1:] if line.strip()]
        yield [line for line in lines if not is_native(line)], CALLS


def trace(mode, program=HOSTILE):
    tracer = subprocess.Popen([STRATA, '-e', SCRIPT, '-c', f'{program} {mode}'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    if mode == 'truth':  # it waits until strata has read the lines
        waits.reading(waits.child(tracer.pid))
        waits.idle(tracer.pid)
    try:
        out, said = tracer.communicate(timeout=2 * SECONDS)
    finally:
        tracer.kill()
    return tracer.returncode, out.decode(errors='replace'), said.decode(errors='replace')


def hold(mode, program=HOSTILE):
    with subprocess.Popen([program, mode, 'wait'], stdin=subprocess.PIPE) as held:
        waits.reading(held.pid) # it has made its frames
        try:
            done = subprocess.run([STRATA, '--unwind', str(held.pid)], capture_output=True, timeout=2 * SECONDS)
        finally:
            held.kill()
    return done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')


def complaints(status, out, elapsed, mode):
    least, most = LIES[mode]
    if status:
        yield f'status {status}'
    if elapsed > SECONDS:
        yield f'{elapsed:.0f} seconds'
    if re.search(r'[\x00-\x08\x0b-\x1f\x7f]', out):
        yield 'control characters'
    stacks = list((stacks_held if HELD else stacks_traced)(out))
    if sum(n for _, n in stacks) != CALLS:
        yield 'stacks are missing'
    for lines, _ in stacks:
        frames = [line for line in lines if not re.fullmatch(r'\[[a-z, ]+\]', line)]
        if not least <= len(frames) <= most:
            yield f'{len(frames)} frames'
        if mode == 'truth' and frames != TRUTH:
            yield f'not the truth: {frames}'


def run(mode):
    start = time.monotonic()
    try:
        status, out, err = (hold if HELD else trace)(mode)
    except subprocess.TimeoutExpired:
        status, out, err = 'time out', '', ''
    wrong = list(complaints(status, out, time.monotonic() - start, mode))
    cases.check(not wrong, mode, '\n'.join([*wrong[:5], err, out]))


if not HELD and os.geteuid():
    print('1..0 # skipped: not root')
    sys.exit(0)
for lie in LIES:
    run(lie)
_, out, err = (hold if HELD else trace)('truth', COMPRESSED)
cases.check('compresses pointers' in err and 'hostile0' not in out and '<js>' in out and re.search(r'^ +main[+ ]', out, re.M), 'compressed', err + out)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
cases.check(peak < MEGABYTES, f'the tracer stays below {MEGABYTES} MB', f'{peak} MB')
sys.exit(cases.done())
