#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""signals.py - stacks from within Go's signal handler: they contain the whole interrupted stack.

    signals.py STRATA      root
    signals.py --build ARCH      only builds the programs, for a machine without a toolchain"""
import os
import pathlib
import platform
import re
import subprocess
import sys

import toolchains
from absent import Missing, as_root, tap_fails

SOURCES = [pathlib.Path(__file__).resolve().parent / 'signals' / 'main.go']
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
PROGRAMS = [('1.19', False), ('1.27', False), ('1.27', True)]
# The first stacks do not count: the process is not known yet, and a later walk has the copy of only one stack.
SCRIPT = 'uprobe:{0}:runtime.sighandler /elapsed > 300000000/ {{ @[ustack] = count(); }}'
SLOW = 'STRATA_SLOW' in os.environ
LEAST = 5 if SLOW else 20 # in a second
LATE = '[the process went on before its whole stack was read]' # on a slow machine at first
HANDLER = ['runtime.sighandler', 'runtime.sigtrampgo', 'runtime.sigtramp']
# libc's function has a name only in debug symbols.
RETURN = ('runtime.sigreturn', '__kernel_rt_sigreturn', '__restore_rt', 'libc.so.6+')
INTERRUPTED = ['main.middle', 'main.outer', 'main.main', 'runtime.main', 'runtime.goexit']


def programs(arch):
    """Name and path of each."""
    for version, cgo in PROGRAMS:
        name = f'signals-{version}{"-cgo" * cgo}'
        try:
            yield name, toolchains.program(name, version, SOURCES, arch, cgo=cgo,
                                           flags=('-ldflags=-linkmode=external',) if cgo else ())
        except Missing as why:
            yield name, why


def look(strata, program):
    """(count of the goroutine's stacks, errors in them)"""
    done = subprocess.run([strata, '-q', '-e', SCRIPT.format(program), '-c', program], capture_output=True, text=True)
    seen, wrong = 0, []
    for body, count in re.findall(r'@\[\n(.*?)\n\]: (\d+)', done.stdout, re.S):
        if SLOW and body.rstrip().endswith(LATE):
            continue
        names = [line.split()[0] for line in body.splitlines()]
        if names[:3] != HANDLER or any(re.fullmatch(r'\s*\[.*\]', line) for line in body.splitlines()):
            wrong.append(names)
        elif 'main.main' in names and not any('signal.Notify' in name for name in names):
            seen += int(count)
            start = len(names) - len(INTERRUPTED)
            if names[start:] != INTERRUPTED or not names[3].startswith(RETURN):
                wrong.append(names)
    return seen, wrong


def main(strata):
    print(f'1..{len(PROGRAMS)}')
    failed = False
    for n, (name, program) in enumerate(programs(ARCH), 1):
        if isinstance(program, Missing):
            failed |= tap_fails(n, name, program)
            continue
        seen, wrong = look(strata, str(program))
        bad = wrong or seen < LEAST
        print(f"{'not ' if bad else ''}ok {n} - {name}: {seen} stacks", flush=True)
        for names in wrong[:4]:
            print('#', names)
        failed |= bool(bad)
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for _, built in programs(sys.argv[2]):
            print(built)
        sys.exit(0)
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
