#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unframed.py - where a function without tables has no frame pointer either (unframed.c), the stack has a mark,
whatever is in that register: it does not look whole.

    unframed.py STRATA PROGRAM      root"""
import os
import pathlib
import platform
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, PROGRAM = sys.argv[1:]
SCRIPT = 'uprobe:libc:getppid { printf("%s\\n", ustack(bpftrace)); exit(); }'
MARK = '[no unwind table, and the frame pointer led nowhere]'
FRAMES = {'zeros': ['points_to_zeros'], 'zero': ['framed', 'is_zero']}
cases = Cases()

if os.geteuid() or platform.machine() != 'x86_64':
    print('1..0 # SKIP', 'needs root' if os.geteuid() else 'arm64 keeps frame pointers')
    sys.exit(0)
for how, wanted in FRAMES.items():
    program = subprocess.Popen([PROGRAM, how], stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    out = subprocess.run([STRATA, '-q', '-p', str(program.pid), '-e', SCRIPT], capture_output=True, text=True, timeout=60)
    program.kill()
    program.wait()
    seen = [line.strip().split('+')[0] for line in out.stdout.splitlines() if line.strip()]
    cases.check(seen[1:] == [*wanted, MARK], how, seen, out.stderr)
sys.exit(cases.done())
