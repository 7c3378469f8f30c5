#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steps.py - steps Go programs, and at each instruction compares the walk's first step with the
truth (../native/step.c):

    steps.py STEP [INSTRUCTIONS]
    steps.py --build ARCH      only builds the programs, for a machine without a toolchain"""
import os
import pathlib
import platform
import subprocess
import sys

import toolchains
from absent import Missing, tap_fails

SOURCE = pathlib.Path(__file__).resolve().parent / 'steps' / 'main.go'
VERSIONS = ('1.19', '1.23', '1.27')
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
# The number of wrong steps allowed in ten thousand instructions.
WRONG = {('arm64', '1.23'): 5, ('arm64', '1.27'): 5}
# One goroutine on one thread, since step.c does not step other threads.
QUIET = {'GOGC': 'off', 'GOMAXPROCS': '1', 'GODEBUG': 'asyncpreemptoff=1'}


def program(version, arch):
    return toolchains.program(f'steps-{version}', version, [SOURCE], arch)


def main(step, instructions='60000'):
    print(f'1..{len(VERSIONS)}')
    failed = False
    for n, version in enumerate(VERSIONS, 1):
        try:
            traced = program(version, ARCH)
        except Missing as why:
            failed |= tap_fails(n, f'go{version}', why)
            continue
        done = subprocess.run([step, f'{instructions}:{WRONG.get((ARCH, version), 10)}@main.work', traced],
                              env=dict(os.environ, **QUIET), capture_output=True, text=True)
        result, *more = done.stdout.splitlines() or [f'not ok - {done.stderr.strip()}']
        print(result.replace('ok 1', f'ok {n}'), *(m for m in more if m.startswith('#')), sep='\n', flush=True)
        failed |= done.returncode != 0
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for wanted in VERSIONS:
            print(program(wanted, sys.argv[2]))
    else:
        sys.exit(main(*sys.argv[1:]))
