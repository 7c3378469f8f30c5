#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warm.py - at the next start, the cache has the data that strata has read from an interpreter's code: the frames
appear without the disassembler. Root.

    warm.py STRATA PYTHON...    PYTHON: see account.py"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import account

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import traced  # noqa: E402

PROGRAM = '''import os, sys
def outer(): inner()
def inner(): os.getppid()
print('ready', flush=True)
sys.stdin.readline()
outer()
'''
SCRIPT = 'uprobe:%s:getppid /pid == %d/ { print(pystack); }'
WANT = ['inner', 'outer', '<module>']


def run(strata, python, cache):
    """Returns the names of the frames, and whether the disassembler was opened."""
    process = traced.start(python, '-c', PROGRAM, cwd='/tmp')
    process.stdout.readline()
    script = SCRIPT % (account.libc_of(process.pid), process.pid)
    with subprocess.Popen([strata, '-p', str(process.pid), '-e', script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, STRATA_CACHE_DIR=cache, LD_DEBUG='files')) as tracer:
        opened = 'libcapstone' in opened_before(tracer)
        process.communicate(b'go\n')
        names = [line.split()[0] for line in tracer.communicate()[0].splitlines() if line.strip()]
    return names, opened


def opened_before(tracer):
    """Returns the messages of the loader until the probes were attached."""
    said = ''
    for line in tracer.stderr:
        if line.startswith('Attached'):
            return said
        said += line
    sys.exit(f'strata said: {said[-2000:]}')


def compare(strata, name, python):
    with tempfile.TemporaryDirectory() as cache:
        (cold, read), (warm, again) = (run(strata, python, cache) for _ in range(2))
    ok = cold == WANT and warm == WANT and read and not again
    print(f'{name}: {cold}, disassembler {read}; from the cache {warm}, disassembler {again}', flush=True)
    return ok


def main(strata, *python):
    ok = True
    for name, program in account.programs_of(python):
        if isinstance(program, Exception):
            ok &= account.may_be_missing(name, program)
        elif int(re.search(r'3\.(\d+)', name).group(1)) >= 12: # the code has the place of the thread state
            ok &= compare(strata, name, program)
    return not ok


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
