#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jit.py - code of a JIT has the name and the line that it had at the time of the sample: from /tmp/perf-PID.map and from
jitdump files.

    jit.py STRATA JITS      root"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, JITS = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
SCRIPT = 'profile:hz:499 { @[ustack(line, 1)] = count(); }'
cases = Cases()


def shares(mode, directory):
    done = subprocess.run([STRATA, '-q', '-e', SCRIPT, '-c', f'{JITS} {mode}'], cwd=directory,
                          capture_output=True, text=True, timeout=60)
    seen = collections.Counter()
    for stack, count in re.findall(r'@\[\n(.*?)\n\]: (\d+)', done.stdout, re.S):
        if '_code' in stack:
            seen[stack.split('\n')[0].strip().split('+')[0]] += int(count)
    return {name: count / seen.total() for name, count in seen.items()}, done


def check(mode, wanted, directory):
    """wanted: {name: phases of the three that it has}. A change is seen within some milliseconds."""
    seen, done = shares(mode, directory)
    right = seen.keys() == wanted.keys() and all(abs(seen[name] - n / 3) < 0.12 for name, n in wanted.items())
    cases.check(right, f'{mode}: {seen}', done.stdout, done.stderr)


def main():
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    with tempfile.TemporaryDirectory() as directory:
        check('map', {'first_code': 1, 'second_code': 1, 'third_code': 1}, directory)
        check('dump', {'first_code': 1, 'second_code f/src.x:12': 2}, directory)
    return cases.done()


sys.exit(main())
