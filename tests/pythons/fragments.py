#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fragments.py FRAGMENTS NAME... - finds the eval loops of Pythons, only by the files.

NAME: see tests/pythons/get; packaged: those that need no building; all: these, the built Pythons,
and arm64's. Prints a table: bytes of the fragments, the method that found those beside the main
one, dispatch jumps, milliseconds. Each loop must be large and have its dispatch jumps (except
with Py_DEBUG, which uses a switch). If the fragments have symbols, the result must equal these,
except for a fragment that only calls a function that does not return."""
import sys

import pythons
from absent import fails

PARTS, *NAMES = sys.argv[1:]
LOOP_MIN = 30000
DISPATCHES = 100
CALL_MAX = 8 # bytes


def wrong(name, ranges, dispatches):
    true = pythons.true_ranges(name)
    if sum(end - start for start, end in ranges) < LOOP_MIN:
        yield 'a loop is larger'
    if dispatches <= DISPATCHES and 'debug' not in name:
        yield 'a loop has more dispatch jumps'
    if true and [r for r in true if r in ranges or r[1] - r[0] > CALL_MAX] != ranges:
        yield f'its symbols say {true}, not {ranges}'


def look(name):
    elf = pythons.get(name) / 'elf'
    word = pythons.output(PARTS, '--ranges', elf).split()
    ranges = [tuple(int(x, 16) for x in r.split('-')) for r in word[2].split(',')]
    sizes = ' + '.join(str(end - start) for start, end in ranges)
    complaints = list(wrong(name, ranges, int(word[4])))
    print(f'{name:20} {word[1]:7} {sizes:16} {word[3]:6} {word[4]:>4} dispatches {word[5]:>6} ms'
          f'{"  as its symbols say" if pythons.true_ranges(name) and not complaints else ""}')
    for text in complaints:
        print(f'    WRONG: {text}')
    return not complaints


ok = True
for arg in NAMES:
    group = {'packaged': pythons.names(), 'all': pythons.all_names() + [*pythons.ARM64]}
    for name in group.get(arg, [arg]):
        try:
            ok &= look(name)
        except pythons.Missing as e:
            ok &= not fails(name, e) or name in pythons.BUILT
sys.exit(not ok)
