#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""busy.py - profiles a busy program, also with -X perf, where each function is called through its
own trampoline: every stack is whole, its functions are in order, and stacks that look alike are
merged. Root.

    busy.py STRATA PYTHON...     PYTHON: see account.py
    busy.py --program            the traced program, for Python 3.6 on"""
import os
import re
import subprocess
import sys

import account

SAMPLES = 300
SCRIPT = '''profile:hz:499 { @both[ustack] = count(); @python[pystack] = count(); if (++@n >= %d) { exit(); } }
interval:s:100 { exit(); }''' % SAMPLES
# Up to 3.9 CPython's loop keeps no pointer to its Python frame; 3.10's loop names itself (tstate->cframe) some instructions
# before it names its frame (tstate->frame; Python/ceval.c, _PyEval_EvalFrameDefault(), v3.10.13). There strata cannot
# attach the frames, and the stack has a mark.
UNATTACHED, EDGE = '[unattached: ', 0.02
ORDER = ['<module>', 'outer', 'middle', 'leaf']
STACK = re.compile(r'^@(both|python)\[\n(.*?)\n\]: (\d+)$', re.M | re.S)


# ---- the traced program ------------------------------------------------------

def leaf(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def middle(n):
    return leaf(n)


def outer():
    while True:
        middle(20000)


# ---- the reader --------------------------------------------------------------

def wrong(stacks):
    """Returns the errors in the stacks."""
    python = [text for kind, text, _ in stacks if kind == 'python']
    if len(set(python)) != len(python):
        yield 'stacks that look alike'
    for kind, text, n in stacks:
        frames = [line.strip() for line in text.split('\n')]
        names = [f.split(' ')[0] for f in reversed(frames) if f' {__file__}:' in f]
        if frames[-1].startswith('['):
            yield f'{n} stacks: {frames[-1]}\n    ' + '\n    '.join(frames)
        elif names != ORDER[:len(names)] or len(names) < 2:
            yield f'{n} stacks of {names}'
        elif kind == 'both' and not re.search(r'_start|libc', frames[-1]):
            yield f'{n} stacks end in {frames[-1]}'


def look(strata, name, python, *options):
    traced = subprocess.Popen([python, *options, __file__, '--program'], stdout=subprocess.PIPE, cwd='/tmp')
    try:
        traced.stdout.readline()
        done = subprocess.run([strata, '-p', str(traced.pid), '-e', SCRIPT], capture_output=True, text=True)
    finally:
        traced.kill()
        traced.wait()
    stacks = STACK.findall(done.stdout)
    total = sum(int(n) for kind, _, n in stacks if kind == 'both')
    marked = sum(int(n) for _, text, n in stacks if UNATTACHED in text)
    edge = before_3_11(python) and marked <= EDGE * total
    complaints = [text for text in wrong(stacks) if not (edge and UNATTACHED in text)]
    print(f'{name} {" ".join(options)}: {total} stacks, {len(complaints)} complaints {done.stderr.strip()}', flush=True)
    for text in complaints[:5]:
        print(f'  {text}')
    return total >= SAMPLES and not complaints


def before_3_11(python):
    return not subprocess.run([python, '-c', 'import sys; sys.exit(sys.version_info >= (3, 11))'], cwd='/tmp').returncode


def has_perf(python):
    return not subprocess.run([python, '-X', 'perf', '-c', 'import sys; sys.exit(sys.version_info < (3, 12))'],
                              cwd='/tmp').returncode


def main(strata, *names):
    ok = True
    for name, python in account.programs_of(names):
        if isinstance(python, Exception):
            ok &= account.may_be_missing(name, python)
            continue
        ok &= look(strata, name, python)
        if has_perf(python):
            ok &= look(strata, name, python, '-X', 'perf')
    return not ok


if __name__ == '__main__':
    if sys.argv[1] == '--program':
        print('ready', flush=True)
        outer()
    elif os.geteuid():
        print('needs root')
        sys.exit(77)  # skipped
    else:
        sys.exit(main(*sys.argv[1:]))
