#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""returns.py - arguments by Go's registers, and returns of functions whose stacks move:
every one is seen, and the program computes what it should.

    returns.py STRATA [GOROUTINES]      root; each returns 1,000 times"""
import os
import pathlib
import subprocess
import sys

import toolchains
from absent import Missing, tap_fails

SOURCES = [pathlib.Path(__file__).resolve().parent / 'returns' / 'main.go']
SCRIPT = '''uretprobe:{0}:main.gr* {{ @returns[func, retval] = count(); }}
uprobe:{0}:main.grow {{ @n = max(arg0); @text[str(arg1, arg2)] = max(arg2); }}'''
PROGRAMS = [('1.19', ()), ('1.27', ()), ('1.27', ('-ldflags=-s -w',))]


def main(strata, goroutines='40'):
    print(f'1..{len(PROGRAMS)}')
    failed = False
    for n, (version, flags) in enumerate(PROGRAMS, 1):
        program = toolchains.CACHE / 'programs' / f'returns-{version}{"-stripped" * bool(flags)}'
        try:
            toolchains.build(version, program, SOURCES, flags=flags)
        except Missing as why:
            failed |= tap_fails(n, program.name, why)
            continue
        done = subprocess.run([strata, '-q', '-e', SCRIPT.format(program), '-c', f'{program} {goroutines}'],
                              capture_output=True, text=True)
        want = {f'{5 * int(goroutines)}', '@n: 999', '@text[hello]: 5',
                f'@returns[main.grow, 5]: {1000 * int(goroutines)}'}
        got = set(done.stdout.split('\n')) - {''}
        print(f"{'ok' if got == want else 'not ok'} {n} - {program.name}", flush=True)
        if got != want:
            failed = True
            print('# ' + '\n# '.join([*sorted(got), done.stderr.strip()]))
    return failed


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
