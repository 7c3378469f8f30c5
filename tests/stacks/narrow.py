#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""narrow.py STRATA - for a script with stacks of only one language, the kernel verifies fewer instructions. With -c all
languages are loaded, because the command may run any program."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases
from traced import attached

STRATA = sys.argv[1]
MOST = {'pystack': 0.75, 'jsstack': 0.75, 'phpstack': 0.6, 'gostack': 0.5}  # of the instructions of ustack
KERNEL = tuple(int(n) for n in os.uname().release.split('-')[0].split('.')[:2])


def text(fdinfo):
    try:
        return fdinfo.read_text()
    except FileNotFoundError:  # strata has closed it
        return ''


def verified(script):
    """Returns the number of instructions of the largest program."""
    tracer = subprocess.Popen([STRATA, '-e', script, '-c', 'sleep 60'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    attached(tracer)
    seen = [int(n) for f in pathlib.Path(f'/proc/{tracer.pid}/fdinfo').iterdir()
            for n in re.findall(r'^verified_insns:\t(\d+)', text(f), re.M)]
    tracer.terminate()
    tracer.communicate()
    return max(seen, default=0)


def main():
    cases = Cases()
    whole = verified('profile:hz:1 { @[ustack] = count(); }')
    both = verified('profile:hz:1 { @[pystack] = count(); @u[ustack] = count(); }')
    cases.check(both >= whole > 0, f'a script with ustack too: {both}, ustack alone: {whole}')
    for builtin, share in MOST.items():
        n, what = verified(f'profile:hz:1 {{ @[{builtin}] = count(); }}'), f'{builtin}: at most {share} of {whole}'
        if KERNEL < (6, 8):
            cases.skip(what, 'before Linux 6.8 the kernel verifies functions that nothing calls, too')
        else:
            cases.check(0 < n <= share * whole, f'{what}: {n}')
    return cases.done()


sys.exit(main())
