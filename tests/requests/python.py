#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python.py - compares trace_id, span_id, trace_flags, label() and service with the requests that threads and coroutines
of a Python program work on, whose library writes the contexts.

    python.py STRATA [CALLS]      root"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
from absent import as_root
import compare
from native import THREADS, VALUES, expected
import tap


def main(strata, calls):
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as where:
        library = pathlib.Path(where) / 'contexts.so'
        subprocess.run(['gcc', '-O1', '-fPIC', '-shared', '-o', library, HERE / 'record.c', HERE / 'context.c'], check=True)
        wanted = {first + i: expected(first + i) for first in range(0, THREADS * 100000, 100000) for i in range(int(calls))}
        command = ['/usr/bin/python3', HERE / 'worker.py', library, str(THREADS), calls]
        compare.check(cases, 'Python', strata, command, VALUES, wanted)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '1000')))
