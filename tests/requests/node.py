#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""node.py - compares trace_id, span_id and trace_flags with the requests of asynchronous functions in Node 22, 24 and 26,
with the published package that writes Node's record.

    node.py STRATA [CALLS]      root"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'lib'), str(HERE.parent / 'unwind' / 'v8')]
from absent import Missing, as_root, tap_fails
import binaries
import compare
import packages
import tap

WRITER = '@datadog/pprof@5.20.0'
FIRST = 50000000
VERSIONS = [('22', ['--experimental-async-context-frame']), ('24', []), ('26', [])]
VALUES = ['trace_id', 'span_id', 'trace_flags']


def writer():
    def install(new):
        tree = pathlib.Path(new) / 'tree'
        tree.mkdir()
        packages.run(['npm', 'install', '--loglevel=error', '--no-save', '--prefix', tree, WRITER], cwd=tree,
                     stdout=sys.stderr, env=binaries.trusting())
        return tree
    return binaries.unpacked('datadog-pprof', install) / 'node_modules' / '@datadog' / 'pprof'


def expected(who):
    if who % 100000 == 0 or who % 10 in (3, 7):
        return ['', '', 0]
    trace = bytearray(16)
    trace[4:8] = (who * 3).to_bytes(4, 'big')
    trace[12:16] = (who + 1).to_bytes(4, 'big')
    return [trace.hex(), (who * 5 + 1).to_bytes(8, 'big').hex(), who % 2]


def main(strata, calls):
    cases = tap.Cases()
    for number, (version, flags) in enumerate(VERSIONS, 1):
        try:
            command = [binaries.node(version), *flags, HERE / 'node.js', writer(), calls]
        except Missing as why:
            cases.failed |= tap_fails(number, f'node {version}', why)
            cases.count += 1
            continue
        wanted = {FIRST + first + i: expected(first + i) for first in range(0, 400000, 100000) for i in range(int(calls))}
        compare.check(cases, f'node {version}', strata, command, VALUES, wanted, which=0)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '1000')))
