#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""late.py - samples of Python processes that begin while strata is stopped: the kernel half knows the
interpreter's file, not the processes. Their stacks have Python's frames, or a mark.

    late.py STRATA      root"""
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import waits
from tap import Cases
from traced import attached

STRATA, = sys.argv[1:]
SECONDS = 2
# The program spends most of its time in C: in modules of Python, and in libc.
WORK = '''import json, time
def leaf(n): return json.dumps({'a': [n] * 20, 'b': sorted(range(n %% 50, 0, -1))})
def deep(n, d): return leaf(n) if d == 0 else deep(n, d - 1)
end = time.monotonic() + %s
n = 0
while time.monotonic() < end: deep(n, n %% 20); n += 1
'''
SCRIPT = 'config = { max_map_keys = 16384 } profile:hz:199 { @[pid, ustack(addr)] = count(); }'
MISSING = ('interpreter not known yet: its frames are missing', 'interpreter frame not readable')
cases = Cases()


def pythons(seconds, n=2):
    started = [subprocess.Popen([sys.executable, '-c', WORK % seconds]) for _ in range(n)]
    for process in started:
        process.wait()
    return {str(process.pid) for process in started}


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit(0)
tracer = subprocess.Popen([STRATA, '-e', SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
attached(tracer)
pythons(0.5)
os.kill(tracer.pid, signal.SIGSTOP)
pids = pythons(SECONDS)
os.kill(tracer.pid, signal.SIGCONT)
waits.idle(tracer.pid)
tracer.send_signal(signal.SIGINT)
out, said = tracer.communicate(timeout=120)
ends = {}
for pid, stack, count in re.findall(r'^@\[(\d+),(.*?)^\]: (\d+)', out, re.M | re.S):
    lines = [line.strip() for line in stack.splitlines() if line.strip()]
    # The interpreter of a process that has just begun has no frames yet.
    if pid in pids and any('PyEval_EvalCode' in line for line in lines):
        last = lines[-1] if lines[-1].startswith('[') else 'whole'
        ends[last] = ends.get(last, 0) + int(count)
total = sum(ends.values())
print('#', ends)
cases.check(total > 20 * SECONDS, f'{total} samples', said)
# On a busy machine the ring buffer fills, and the other stacks have the mark of an unknown process.
cases.check(ends.get('whole', 0) > 0.6 * total, 'most are whole', ends)
cases.check(sum(ends.get(f'[{mark}]', 0) for mark in MISSING) < 0.1 * total, 'few miss Python\'s frames', ends)
sys.exit(cases.done())
