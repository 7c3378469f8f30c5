#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steps.py - steps node in its builtins, its interpreter and compiled code, and at each instruction
compares the walk's first step with the truth (../native/step.c):

    steps.py STEP [INSTRUCTIONS [VERSION...]]
    steps.py --build ARCH      only unpacks node, for a machine without npm"""
import os
import pathlib
import subprocess
import sys

import binaries
from absent import Missing, tap_fails

HERE = pathlib.Path(__file__).resolve().parent
WRONG = 30  # of ten thousand
# (what, options, rounds before)
RUNS = [('as it comes', (), 300), ('interpreted', ('--no-opt', '--no-sparkplug'), 3),
        ('baseline', ('--no-opt', '--always-sparkplug'), 30), ('optimized', ('--always-turbofan',), 30)]
if os.environ.get('STRATA_FEW'):
    RUNS = RUNS[::2]
OLDER = {'--always-turbofan': '--always-opt'}  # up to 18; from 26 on neither
VERSIONS = {'x86_64': ('20', '26'), 'aarch64': ('24', '26')}
MACHINES = {'arm64': 'aarch64', 'amd64': 'x86_64'}
# One thread, since step.c does not step others.
QUIET = ('--single-threaded',)


def takes(node, options):
    return subprocess.run([node, *options, '-e', '0'], capture_output=True).returncode == 0


def main(step, instructions='60000', *versions):
    versions = versions or VERSIONS[os.uname().machine]
    print(f'1..{len(versions) * len(RUNS)}')
    n, failed = 0, False
    for version in versions:
        for what, options, rounds in RUNS:
            n += 1
            try:
                node = str(binaries.node(version))
            except Missing as why:
                failed |= tap_fails(n, f'node {version} {what}', why)
                continue
            if not takes(node, options):
                options = [OLDER.get(o, o) for o in options]
                if not takes(node, options):
                    print(f'ok {n} - node {version} {what} # SKIP an option that it has not')
                    continue
            done = subprocess.run([step, f'{instructions}:{WRONG}@uv_os_getpriority', node, *QUIET, *options,
                                   HERE / 'steps.js', str(rounds)], capture_output=True, text=True)
            result, *more = done.stdout.splitlines() or [f'not ok - {done.stderr.strip()}']
            print(result.replace('ok 1', f'ok {n}'), what, *options)
            print(*(m for m in more if m.startswith('#')), sep='\n', flush=True)
            failed |= done.returncode != 0
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for wanted in VERSIONS[MACHINES[sys.argv[2]]]:
            print(binaries.node(wanted, MACHINES[sys.argv[2]]))
        sys.exit(0)
    sys.exit(main(*sys.argv[1:]))
