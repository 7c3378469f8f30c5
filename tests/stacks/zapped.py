#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""zapped.py STRATA ZAPPED - stacks whose pages exist, but not in the page table: a program in the kernel cannot read
them, and yet the stacks are whole. Prints TAP."""
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
import waits
from absent import as_root

STRATA, ZAPPED = sys.argv[1:]
CALLS = 200 # 10 ms apart; strata tries ten times a second to read a stack that cannot be read at all
# The least number of whole stacks, by the number of frames (5 to 200 KiB of stack, of which 32 are copied). An emulated
# machine reads some of the deep stacks when the program has ended.
LEAST = {10: 180, 40: 180, 400: 100}
SCRIPT = 'uprobe:libc:getppid { @[ustack] = count(); }'


def trace(command):
    """Returns the output of strata, and its messages. The command ends when strata has read its stacks."""
    tracer = subprocess.Popen([STRATA, '-e', SCRIPT, '-c', command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    for line in tracer.stdout:
        if line == 'called\n':
            waits.idle(tracer.pid)
            break
    return tracer.communicate(timeout=60)


def main():
    cases = tap.Cases()
    for frames, least in LEAST.items():
        out, said = trace(f'{ZAPPED} {frames} {CALLS}')
        stacks = [(body.split('\n'), int(n)) for body, n in re.findall(r'^@\[\n(.*?)\n\]: (\d+)', out, re.M | re.S)]
        whole = sum(n for lines, n in stacks if len([x for x in lines if ' deeper+' in x]) == frames + 1 and '[' not in lines[-1])
        # The kernel may have no memory at hand for a new key.
        refused = sum(map(int, re.findall(r'(\d+) updates? lost: the kernel refused', said)))
        cases.check(sum(n for _, n in stacks) + refused == CALLS and whole >= least,
                    f'{frames} frames: {whole} of {CALLS} stacks are whole, {refused} refused by the kernel', said, out)
    return cases.done()


sys.exit(as_root(main))
