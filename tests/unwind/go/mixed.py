#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mixed.py - Go, C and Python in one stack: a Go program that embeds Python by cgo. ustack has
all layers in order, gostack and pystack are equal to Go's and Python's own accounts, and len() of
each is the number of its frames.

    mixed.py STRATA [CALLS [DEEPEST]]      root; pkg-config's python3-embed
    mixed.py --build ARCH      only builds the programs, for a machine without a toolchain"""
import json
import pathlib
import re
import platform
import shutil
import sys

import toolchains
from absent import Missing, as_root, tap_fails
import packages
import traced

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / 'mixed' / 'main.go'
VERSIONS = ('1.19', '1.27')
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
# Packages of the target machine; the cross compiler's libc is older than that Python's.
SUITE, PYTHON = 'trixie', ('libpython3.13-dev', 'libpython3.13', 'libpython3-dev')
SCRIPT = r'''tracepoint:syscalls:sys_enter_getppid {
    printf("record %d %d %d%s\n--%s\n--%s\n--%s\n--%s\n", len(ustack), len(gostack), len(pystack), ustack(4096),
        gostack(4096), pystack(4096), ustack(raw, 4096), gostack(raw, 4096)); }'''
LAYERS = {'main.goLayer', 'c_layer', 'c_sorts', 'plain', 'sorts', 'generates'}
EMPTY = re.compile(r'\[no (Python|Go) frames\]$')
# Functions between Go's and C's frames: Go's own account has a stand-in for them.
GLUE = ('crosscall2 ', 'runtime.asmcgocall ', 'runtime.systemstack_switch ')


def python_of(arch):
    """The environment with which cgo finds that machine's Python."""
    tree = toolchains.CACHE / f'python-{SUITE}-{arch}'
    if not tree.exists():
        packages.unpack(toolchains.CACHE, SUITE, arch, tree.with_suffix('.new'), PYTHON)
        tree.with_suffix('.new').rename(tree)
    library = next(tree.glob('usr/lib/*-linux-gnu'))
    return {'PKG_CONFIG_LIBDIR': f'{library}/pkgconfig', 'PKG_CONFIG_SYSROOT_DIR': str(tree),
            'CGO_CFLAGS': f'-O2 -g -I{tree}/usr/include',
            'CGO_LDFLAGS': '-Wl,--allow-shlib-undefined'}


def program(version, arch, other):
    """Builds the program. other: for another machine, which may have this architecture."""
    return toolchains.program(f'mixed-{version}{f"-{SUITE}" * other}', version, [SOURCE, SOURCE.with_name('layers.py')],
                              arch, cgo=True, env=python_of(arch) if other else {})


def name(line):
    return line.split()[0].split('+')[0]


def seen(out):
    """Yields the three lengths and the lines of the five stacks of each record."""
    for record in out.split('record ')[1:]:
        head, _, rest = record.partition('\n')
        parts = [[line.strip() for line in part.splitlines() if line.strip() and not EMPTY.search(line)]
                 for part in rest.split('\n--')]
        yield [int(n) for n in head.split()], parts


def go_account(lines):
    return [line for line in lines if not line.startswith(GLUE)]


def python_account(lines):
    return [f'{line.split()[0]}:{line.rpartition(":")[2]}' for line in lines]


def compare(account, lengths, stacks):
    """The first difference, or None."""
    ustack, gostack, pystack, raw, go_raw = stacks
    marks = [line for stack in stacks for line in stack if line.startswith('[') and line.endswith(']')]
    if marks:
        return f'{marks}: {ustack[-6:]}'
    layers = [name(line) for line in ustack if name(line) in LAYERS]
    if layers != account['Layers']:
        return f'layers {layers}; they are {account["Layers"]}: {ustack}'
    start = next((i for i, line in enumerate(gostack) if line.startswith('main.bottom ')), len(gostack))
    for got, want in ((go_account(gostack[start + 1:]), go_account(account['Go'])),
                      (python_account(pystack), account['Py'] or [])):
        if got != want:
            n = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
            return f'frame {n} of {len(got)}: {got[n:n + 2]}; it says, of {len(want)}: {want[n:n + 2]}'
    counted = [len(raw), len(go_raw), len(pystack)]
    return None if lengths == counted else f'len() {lengths}, frames {counted}'


def main(strata, calls=300, deepest=25):
    print(f'1..{len(VERSIONS)}')
    failed = False
    for n, version in enumerate(VERSIONS, 1):
        try:
            traced_program = program(version, ARCH, other=not shutil.which('pkg-config'))
        except Missing as why:
            failed |= tap_fails(n, f'go{version}', why)
            continue
        account, printed = traced.run(strata, SCRIPT, traced_program, calls, deepest)
        account, got = [json.loads(line) for line in account], list(seen(b'\n'.join(printed).decode()))
        wrong = [w for w in (compare(t, *g) for t, g in zip(account, got)) if w]
        bad = wrong or len(account) != len(got) or len(account) < int(calls)
        frames = max((g[0][0] for g in got), default=0)
        print(f"{'not ' if bad else ''}ok {n} - go{version}: {len(got)} stacks of {len(account)}, up to {frames} frames",
              flush=True)
        for w in wrong[:3]:
            print('#', w)
        failed |= bool(bad)
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for wanted in VERSIONS:
            print(program(wanted, sys.argv[2], other=True))
        sys.exit(0)
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
