#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unframed.py - functions without tables and without a frame pointer (unframed.c): their instructions give the caller,
whatever the register contains. Where they cannot be understood, the stack has a mark. At the beginning of a function
its caller is known.

    unframed.py STRATA PROGRAM      root"""
import os
import pathlib
import platform
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from features import features
from tap import Cases

STRATA, PROGRAM = sys.argv[1:]
SCRIPT = '%s { printf("%%s\\n", ustack(bpftrace)); exit(); }'
FRAMES = {'zeros': ['points_to_zeros', 'main'], 'zero': ['framed', 'is_zero', 'main']}
MARKS = '[no unwind table, and the frame pointer led nowhere]', '[frames may be missing: code without unwind table]'
cases = Cases()

if os.geteuid() or platform.machine() != 'x86_64':
    print('1..0 # SKIP', 'needs root' if os.geteuid() else 'arm64 keeps frame pointers')
    sys.exit(0)


def stack(how, probe):
    """Returns the functions, innermost first, and the messages. The probe may be an offset into begins()."""
    program = subprocess.Popen([PROGRAM, how], stdout=subprocess.PIPE, text=True)
    begins = int(program.stdout.readline(), 16)
    if isinstance(probe, int): # a uprobe's breakpoint would be in the code that the walk reads
        probe = f'watchpoint:{begins + probe:#x}:8:x'
    out = subprocess.run([STRATA, '-q', '-p', str(program.pid), '-e', SCRIPT % probe], capture_output=True, text=True,
                         timeout=60)
    program.kill()
    program.wait()
    return [line.strip().split('+')[0] for line in out.stdout.splitlines() if line.strip()], out.stderr


for how, wanted in FRAMES.items():
    seen, said = stack(how, 'uprobe:libc:getppid')
    cases.check(seen[1:len(wanted) + 1] == wanted and seen[-1] == '_start', how, seen, said)
seen, said = stack('odd', 'uprobe:libc:getppid')
cases.check(seen[1] == 'odd' and seen[-1] in MARKS, 'not understood: a mark', seen, said)
for offset in (0, 4):
    if 'watchpoint' not in features(STRATA):
        cases.skip(f'interrupted at begins+{offset}', 'needs feature:watchpoint')
        continue
    seen, said = stack('zero', offset)
    cases.check(seen[:2] == ['begins', 'main'] and seen[-1] == '_start', f'interrupted at begins+{offset}', seen, said)
sys.exit(cases.done())
