#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""go.py - compares trace_id, span_id and label() with the labels of goroutines: 1, 8, 27 and 53 labels, Go 1.19 to 1.27,
with and without cgo's way to the thread's g.

    go.py STRATA [CALLS]      root"""
import pathlib
import platform
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'lib'), str(HERE.parent / 'unwind' / 'go')]
from absent import Missing, as_root, tap_fails
import compare
import tap
import toolchains

ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
PROGRAMS = [
    ('1.19', ()), ('1.23', ()), ('1.24', ('-buildmode=pie', '-ldflags=-s -w')), ('1.27', ()),
    ('1.27', ('-ldflags=-s -w',)),
]
VALUES = ['trace_id', 'span_id', 'label("tenant")', 'label("key50")', 'label("key6")']
SIZES = (1, 8, 27, 53)


def expected(who):
    if who % 100000 == 0 or who % 10 == 3:
        return [''] * 5
    size, with_ids = SIZES[who % 4], who % 3 == 0
    keys = size - 1 - 2 * with_ids
    return [f'{who * 7919:032x}' if with_ids else '', f'{who * 31:016x}' if with_ids else '', f't{who % 7}',
            f'value{50 + who}' if keys > 50 else '', f'value{6 + who}' if keys > 6 else '']


def main(strata, calls):
    cases = tap.Cases()
    for number, (version, flags) in enumerate(PROGRAMS, 1):
        name = f'labels-{version}{"-" if flags else ""}{"pie" if len(flags) > 1 else "stripped" if flags else ""}'
        try:
            program = toolchains.program(name, version, [HERE / 'go' / 'main.go'], ARCH, flags=flags)
        except Missing as why:
            cases.failed |= tap_fails(number, name, why)
            cases.count += 1
            continue
        wanted = {first + i: expected(first + i) for first in range(0, 400000, 100000) for i in range(int(calls))}
        compare.check(cases, name, strata, [program, calls], VALUES, wanted)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '1000')))
