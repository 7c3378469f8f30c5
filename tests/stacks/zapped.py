#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""zapped.py STRATA ZAPPED - stacks whose pages are there, but not in the page table: a program in the kernel cannot
read them, and the stacks are whole all the same. Prints TAP."""
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import as_root

STRATA, ZAPPED = sys.argv[1:]
CALLS = 200 # 10 ms apart: of a stack that cannot be read at all ten a second are tried
# By frames, 5 to 200 KiB of stack, of which 32 are copied: how many are whole at least. An emulated machine comes to some
# of the deep ones when the program has ended.
LEAST = {10: 180, 40: 180, 400: 100}
SCRIPT = 'uprobe:libc:getppid { @[ustack] = count(); }'


def main():
    cases = tap.Cases()
    for frames, least in LEAST.items():
        done = subprocess.run([STRATA, '-e', SCRIPT, '-c', f'{ZAPPED} {frames} {CALLS}'], capture_output=True, text=True, timeout=60)
        stacks = [(body.split('\n'), int(n)) for body, n in re.findall(r'^@\[\n(.*?)\n\]: (\d+)', done.stdout, re.M | re.S)]
        whole = sum(n for lines, n in stacks if len([x for x in lines if ' deeper+' in x]) == frames + 1 and '[' not in lines[-1])
        cases.check(sum(n for _, n in stacks) == CALLS and whole >= least, f'{frames} frames: {whole} of {CALLS} stacks are whole',
                    done.stdout, done.stderr)
    return cases.done()


sys.exit(as_root(main))
