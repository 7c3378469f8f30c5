#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""goid.py - compares goid with the numbers that goroutines print, in programs of several Go
versions: with and without cgo, stripped, position independent.

    goid.py STRATA      root
    goid.py --build ARCH      only builds the programs, for a machine without a toolchain"""
import pathlib
import platform
import sys

import toolchains
from absent import Missing, as_root, tap_fails
import traced

HERE = pathlib.Path(__file__).resolve().parent
PLAIN = [HERE / 'goid' / 'main.go']
CGO = [*PLAIN, HERE / 'goid' / 'cgo.go']
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
PIE = ('-buildmode=pie', '-ldflags=-s -w')
STATIC = ('-ldflags=-linkmode=external -extldflags=-static',)
PROGRAMS = [
    ('goid-1.19', '1.19', PLAIN, ()),
    ('goid-1.23', '1.23', PLAIN, ()),
    ('goid-1.24-pie-stripped', '1.24', PLAIN, PIE),
    ('goid-1.27', '1.27', PLAIN, ()),
    ('goid-1.19-cgo', '1.19', CGO, ()),
    ('goid-1.27-cgo', '1.27', CGO, ()),
    ('goid-1.27-cgo-pie', '1.27', CGO, PIE),
    ('goid-1.27-cgo-static', '1.27', CGO, STATIC),
]
SCRIPT = 'tracepoint:syscalls:sys_enter_getppid { printf("%d\\n", goid); }'


def programs(arch):
    """Name and path of each."""
    for name, version, sources, flags in PROGRAMS:
        try:
            yield name, toolchains.program(name, version, sources, arch, cgo=sources is CGO, flags=flags)
        except Missing as why:
            yield name, why


def compare(strata, program):
    """The count of numbers, and the pairs that differ."""
    account, seen = ([int(n) for n in lines if n.strip()] for lines in traced.run(strata, SCRIPT, program))
    if len(account) != len(seen):
        return 0, [(len(account), len(seen))]
    return len(account), [(a, b) for a, b in zip(account, seen) if a != b]


def main(strata):
    print(f'1..{len(PROGRAMS)}')
    failed = False
    for i, (name, program) in enumerate(programs(ARCH), 1):
        if isinstance(program, Missing):
            failed |= tap_fails(i, name, program)
            continue
        n, wrong = compare(strata, program)
        bad = wrong or n < 900
        print(f"{'not ' if bad else ''}ok {i} - {name}: {n} numbers", flush=True)
        if wrong:
            print(f'# {len(wrong)} differ; the runtime, strata: {wrong[:8]}')
        failed |= bool(bad)
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for _, built in programs(sys.argv[2]):
            print(built)
        sys.exit(0)
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
