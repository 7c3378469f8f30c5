#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shapes.py - samples in code without tables (shapes.S), called from code with and without frame pointers and tables:
98 % of the stacks are whole, and those that are not have a mark.

    shapes.py STRATA SOURCES      root; SOURCES: the folder of shapes.S"""
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
SCRIPT = 'config = { print_maps_on_exit = 0 } ' \
    'profile:hz:997 { @[ustack] = count(); @n++; if (@n > 1000) { print(@); exit(); } }'
WAYS = {
    'frame pointers': ['-fno-omit-frame-pointer'],
    'no frame pointers': ['-fomit-frame-pointer'],
    'frame pointers, no tables': ['-fno-omit-frame-pointer', '-fno-asynchronous-unwind-tables'],
    'no frame pointers, no tables': ['-fomit-frame-pointer', '-fno-asynchronous-unwind-tables'],
}
SHAPES = 'leaf', 'pushes', 'sub', 'tail', 'loop', 'table', 'align', 'align_fp'
cases = Cases()


def whole(frames):
    """Outermost first: main, call_X, and shape_X, from which shape_leaf may have been called or jumped to."""
    if 'main' not in frames:
        return False
    frames = frames[frames.index('main'):]
    if len(frames) < 2:
        return True # main itself, or a function that it is about to call
    shape = frames[1].split('.')[0].removeprefix('call_')
    return frames[2:] in ([], [f'shape_{shape}'], [f'shape_{shape}', 'shape_leaf']) or \
        (shape == 'tail' and frames[2:] == ['shape_leaf'])


def check(what, program):
    done = subprocess.run([STRATA, '-q', '-f', 'folded', '-e', SCRIPT, '-c', program], capture_output=True, text=True,
                          timeout=60)
    total, bad, silent = 0, [], []
    seen = set()
    for line in done.stdout.splitlines():
        stack, count = line.rsplit(' ', 1)
        frames = stack.split(';')
        if 'main' not in frames and '_start' not in frames[0] and not stack.startswith('['):
            continue # the loader
        total += int(count)
        seen |= {frame for frame in frames if frame.startswith('shape_')}
        if not whole(frames):
            bad += [stack] * int(count)
            silent += [stack] * (not stack.startswith('[') and 'shape_' in stack)
    cases.check(total > 500 and len(bad) <= total / 50 and len(seen) == len(SHAPES), f'{what}: {total} stacks, '
                f'{len(bad)} are not whole', done.stderr, *bad[:5])
    cases.check(not silent, f'{what}: none of them is without a mark', *silent[:5])


def main():
    if os.geteuid() or platform.machine() != 'x86_64':
        print('1..0 # SKIP', 'needs root' if os.geteuid() else 'the code is for x86_64')
        return 0
    with tempfile.TemporaryDirectory() as directory:
        for n, (what, flags) in enumerate(WAYS.items()):
            program = pathlib.Path(directory) / f'shapes{n}'
            subprocess.run(['gcc', '-O2', '-g0', *flags, SOURCES / 'shapes.c', SOURCES / 'shapes.S', '-o', program], check=True)
            check(what, program)
    return cases.done()


sys.exit(main())
