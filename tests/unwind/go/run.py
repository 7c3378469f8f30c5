#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - runs account.py on programs of several Go versions: with and without cgo, stripped,
position independent:

    run.py STRATA [CALLS [DEEPEST]]      root
    run.py --build ARCH      only builds the programs, for a machine without a toolchain"""
import pathlib
import platform
import sys

import account
import toolchains
from absent import Missing, as_root, tap_fails

HERE = pathlib.Path(__file__).resolve().parent
PLAIN, CGO = [HERE / 'program.go'], [HERE / 'program.go', HERE / 'cgo.go']
STRIPPED = ('-ldflags=-s -w',)
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]

PROGRAMS = [
    ('go1.19', '1.19', PLAIN, ()),
    ('go1.23', '1.23', PLAIN, ()),
    ('go1.24-pie-stripped', '1.24', PLAIN, ('-buildmode=pie', *STRIPPED)),
    ('go1.27', '1.27', PLAIN, ()),
    ('go1.27-stripped', '1.27', PLAIN, STRIPPED),
    ('go1.19-cgo', '1.19', CGO, ()),
    ('go1.27-cgo', '1.27', CGO, ()),
]


def programs(arch):
    """Name and path of each."""
    for name, version, sources, flags in PROGRAMS:
        try:
            yield name, toolchains.program(name, version, sources, arch, cgo=sources is CGO, flags=flags)
        except Missing as why:
            yield name, why


def main(strata, calls=600, deepest=1000):
    print(f'1..{len(PROGRAMS)}')
    failed = False
    for n, (name, program) in enumerate(programs(ARCH), 1):
        if isinstance(program, Missing):
            failed |= tap_fails(n, name, program)
            continue
        bad = account.main(strata, str(program), calls, deepest)
        print(f"{'not ok' if bad else 'ok'} {n} - {name}", flush=True)
        failed |= bool(bad)
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for _, built in programs(sys.argv[2]):
            print(built)
        sys.exit(0)
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
