#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - runs account.py on versions of node, interpreted, compiled and with default options:

    run.py STRATA [STACKS [DEEPEST [VERSION...]]]      root; all versions: see binaries.py
    run.py --build ARCH      only unpacks the versions, for a machine without npm"""
import os
import subprocess
import sys

import account
import binaries
import turn
from absent import Missing, as_root, tap_fails

# Each option with its names in older versions.
OPTIONS = [[()], [('--no-opt', '--no-sparkplug'), ('--no-opt',)], [('--always-sparkplug',)], [('--maglev',)],
           [('--always-turbofan',), ('--always-opt',)]]
if os.environ.get('STRATA_FEW'):
    OPTIONS = OPTIONS[:1]
VERSIONS = ('20', '22', '26')
IN_MACHINES = {'arm64': ('24', '26'), 'amd64': ()}


def known(node, choices):
    """Returns the first name that this version has, or None."""
    for options in choices:
        if subprocess.run([node, *options, '-e', '0'], capture_output=True).returncode == 0:
            return options
    return None


def main(strata, count=100, deepest=300, *versions):
    runs = turn.part(((version, options) for version in versions or VERSIONS for options in OPTIONS), 3)
    print(f'1..{len(runs)}')
    failed = False
    for n, (version, choices) in enumerate(runs, 1):
        name = ' '.join((f'node {version}', *choices[0]))
        try:
            program = str(binaries.node(version))
        except Missing as why:
            failed |= tap_fails(n, name, why)
            continue
        options = known(program, choices)
        if options is None:
            print(f'ok {n} - {name} # SKIP an option that it has not')
            continue
        name = ' '.join((f'node {version}', *options))
        bad = account.main(strata, program, count, deepest, *options)
        print(f"{'not ok' if bad else 'ok'} {n} - {name}", flush=True)
        failed |= bool(bad)
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for wanted in IN_MACHINES[sys.argv[2]]:
            print(binaries.node(wanted, {'arm64': 'aarch64', 'amd64': 'x86_64'}[sys.argv[2]]))
        sys.exit(0)
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
