#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""registers.py - userspace finishes walks that need registers other than sp and fp (registers.c). strata is stopped
while the program runs, so that the kernel half does not know its mappings.

    registers.py STRATA PROGRAM      root"""
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import waits
from tap import Cases
from traced import attached

STRATA, PROGRAM = sys.argv[1:]
cases = Cases()


def loader():
    """Returns the program's loader, if strata knows the probed function in it."""
    path = re.search(r'interpreter: (\S+)\]', subprocess.run(['readelf', '-l', PROGRAM], capture_output=True, text=True).stdout)
    path = path and os.path.realpath(path.group(1))
    known = path and subprocess.run([STRATA, '-l', f'uprobe:{path}:_dl_fixup'], capture_output=True, text=True).stdout
    return path if known else None


def stacks(probe):
    script = f'{probe} /comm == "{os.path.basename(PROGRAM)[:15]}"/ {{ printf("stack%s\\n", ustack); }}'
    tracer = subprocess.Popen([STRATA, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    attached(tracer)
    os.kill(tracer.pid, signal.SIGSTOP)
    waits.stopped(tracer.pid)
    subprocess.run([PROGRAM], check=True)
    os.kill(tracer.pid, signal.SIGCONT)
    waits.idle(tracer.pid)
    tracer.terminate()
    out = tracer.communicate(timeout=60)[0]
    return [[line.strip().split('+')[0] for line in part.splitlines() if line.strip()] for part in out.split('stack')[1:]]


def whole(names, *wanted):
    return [name for name in names if name in wanted] == list(wanted) and names[-1] == '_start'


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit(0)
found = stacks('tracepoint:sched:sched_process_fork')
cases.check(any(whole(s, 'inner', 'outer', 'main') for s in found), 'within vfork()', found)
if loader():
    found = stacks(f'uprobe:{loader()}:_dl_fixup')
    cases.check(found and all(s[0] == '_dl_fixup' and s[-1] == '_start' for s in found) and
                any(whole(s, 'outer', 'main') for s in found), 'within lazy binding', found)
else:
    cases.skip('within lazy binding', 'the dynamic loader has no symbol _dl_fixup')
sys.exit(cases.done())
