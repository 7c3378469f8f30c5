#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""returns.py - arguments in Go's registers, and on the stack for assembler functions. strata sees each
return of functions whose stacks move, and the program's result stays right.

    returns.py STRATA [GOROUTINES]      root; each returns 1,000 times
    returns.py --build ARCH      only builds the programs, for a machine without a toolchain"""
import pathlib
import platform
import subprocess
import sys

import toolchains
from absent import Missing, as_root, tap_fails

SOURCES = [pathlib.Path(__file__).resolve().parent / 'returns' / 'main.go']
SCRIPT = '''uretprobe:{0}:main.gr* {{ @returns[func, retval] = count(); }}
uprobe:{0}:main.grow {{ @n = max(arg0); @text[str(arg1, arg2 + 1)] = max(arg2); }}'''
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
ASSEMBLER = 'hash/crc32.' + {'amd64': 'castagnoliSSE42', 'arm64': 'castagnoliUpdate'}[ARCH]
ON_STACK = 'uprobe:{0}:"{1}.abi0" /arg2 == 5/ {{ @assembler[str(arg1, arg2 + 1), arg3 >= arg2] = count(); }}'
UNSURE = 'uprobe:{0}:"runtime.memmove" {{ print(arg0); }}'
PROGRAMS = [('1.19', ()), ('1.27', ()), ('1.27', ('-ldflags=-s -w',))]


def programs(arch):
    """Yields the name and path of each program, and whether it is stripped."""
    for version, flags in PROGRAMS:
        name = f'returns-{version}{"-stripped" * bool(flags)}'
        try:
            yield name, toolchains.program(name, version, SOURCES, arch, flags=flags), bool(flags)
        except Missing as why:
            yield name, why, bool(flags)


def unsure_is_refused(strata, program):
    """Returns 0 or 1. A stripped program does not show where its assembler functions have arguments."""
    done = subprocess.run([strata, '--dry-run', '-e', UNSURE.format(program)], capture_output=True, text=True)
    return not (done.returncode == 1 and 'where runtime.memmove has its arguments is not known' in done.stderr)


def main(strata, goroutines='40'):
    print(f'1..{len(PROGRAMS)}')
    failed = False
    for n, (name, program, stripped) in enumerate(programs(ARCH), 1):
        if isinstance(program, Missing):
            failed |= tap_fails(n, name, program)
            continue
        script = SCRIPT.format(program) + ('' if stripped else ON_STACK.format(program, ASSEMBLER))
        done = subprocess.run([strata, '-q', '-e', script, '-c', f'{program} {goroutines}'],
                              capture_output=True, text=True)
        want = {f'{5 * int(goroutines)}', '@n: 999', '@text[hello]: 5',
                f'@returns[main.grow, 5]: {1000 * int(goroutines)}'}
        if not stripped:
            want.add('@assembler[hello, true]: 1')
        elif unsure_is_refused(strata, program):
            want.add('runtime.memmove was not refused')
        got = set(done.stdout.split('\n')) - {''}
        print(f"{'ok' if got == want else 'not ok'} {n} - {name}", flush=True)
        if got != want:
            failed = True
            print('# ' + '\n# '.join([*sorted(got), done.stderr.strip()]))
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for _, built, _ in programs(sys.argv[2]):
            print(built)
        sys.exit(0)
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
