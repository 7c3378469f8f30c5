#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE - processes that look like HotSpot and have false data (hostile.c): strata prints each
stack; nothing hangs, crashes or grows, and no control character reaches the terminal."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import absent
from tap import Cases

STRATA, HOSTILE = sys.argv[1:]
CALLS = 200
LIMIT = 500
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1)) # STRATA_SLOW: how many times slower this machine is
MEGABYTES = 600 # of the tracer; with true data it needs about 100
SCRIPT = f'''uprobe:libc:getppid {{
    @calls = count();
    @j[javastack({LIMIT})] = count();
    @u[ustack({LIMIT})] = count();
}}'''
# The least and the greatest number of Java frames; HotSpot's own code is a frame of ustack only.
LIES = {
    'truth': (4, 4), 'moving': (4, 4), 'segmap-cycle': (0, 4), 'segmap-far': (0, 4), 'frame-huge': (2, 4),
    'frame-negative': (2, 4), 'frame-small': (1, 4), 'blob-name': (0, 4), 'scopes-cycle': (4, 300), 'scopes-far': (4, 4),
    'pcs-many': (4, 4), 'deopt-self': (2, 4), 'pool-self': (0, 4), 'wild-method': (0, 4), 'wild-names': (2, 4),
    'edge': (4, 4), 'name-long': (4, 4), 'terminal': (4, 4), 'lines-endless': (4, 4), 'code-size': (2, 4),
    'heaps-many': (4, 4), 'wild-heaps': (0, 4),
    # strata may read the tables before the program changes them
    'offsets-huge': (0, 4), 'offsets-odd': (0, 4), 'tables-endless': (0, 4), 'texts-wild': (0, 4),
}

cases = Cases()


def stacks(out):
    """Yields (lines, count) of @j."""
    for found in re.finditer(r'^@j\[(.*?)\]: (\d+)$', out, re.M | re.S):
        yield [line.strip() for line in found.group(1).splitlines() if line.strip()], int(found.group(2))


def complaints(status, out, elapsed, least, most):
    calls = re.search(r'^@calls: (\d+)$', out, re.M)
    if status:
        yield f'status {status}'
    if elapsed > SECONDS:
        yield f'{elapsed:.0f} seconds'
    if not calls or int(calls.group(1)) != CALLS:
        yield 'calls are missing'
    if re.search(r'[\x00-\x08\x0b-\x1f\x7f]', out):
        yield 'control characters'
    most_seen = 0
    for lines, n in stacks(out):
        frames = [line for line in lines if not line.startswith('[')]
        most_seen = max(most_seen, len(frames))
        if len(frames) > most:
            yield f'{len(frames)} frames'
    if most_seen < least: # before strata has read the tables there are none
        yield f'at most {most_seen} frames'


def check_neighbour():
    """A process with false tables says nothing about another process with the same file."""
    script = 'uprobe:libc:getppid { @j[pid, javastack(500)] = count(); }'
    with subprocess.Popen([HOSTILE, 'shifted', 'forever']) as liar:
        with subprocess.Popen([STRATA, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors='replace') as tracer:
            line = tracer.stderr.readline()
            while line and not line.startswith('Attached'):
                line = tracer.stderr.readline()
            with subprocess.Popen([HOSTILE, 'truth']) as honest:
                honest.wait()
            tracer.send_signal(signal.SIGINT)
            out, err = tracer.communicate(timeout=SECONDS)
        liar.kill()
    found = re.findall(rf'^@j\[{honest.pid}, (.*?)\]: \d+$', out, re.M | re.S)
    frames = {line.strip() for stack in found for line in stack.splitlines()} - {''}
    names = {f.partition(':')[0] for f in frames if not f.startswith('[')}
    cases.check(names == {'evil.Klass0.method0 Evil.java'}, 'a neighbour with false tables', f'{names}\n{err}\n{out[:1000]}')


def main():
    for lie, (least, most) in LIES.items():
        start = time.monotonic()
        try:
            done = subprocess.run([STRATA, '-e', SCRIPT, '-c', f'{HOSTILE} {lie}'], capture_output=True, timeout=2 * SECONDS)
            status, out, err = done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')
        except subprocess.TimeoutExpired:
            status, out, err = 'time out', '', ''
        wrong = list(complaints(status, out, time.monotonic() - start, least, most))
        cases.check(not wrong, lie, '\n'.join([*wrong[:5], err, out[:2000]]))
    check_neighbour()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    cases.check(peak < MEGABYTES, f'the tracer stays below {MEGABYTES} MB', f'{peak} MB')
    return cases.done()


sys.exit(absent.as_root(main))
