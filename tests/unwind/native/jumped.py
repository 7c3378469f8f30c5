#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jumped.py - code without tables that jumps to its callees, like HotSpot's interpreter (jumped.c): strata walks it
by its frame pointers to the program's first frame, in a traced and in a held process.

    jumped.py STRATA PROGRAM      root"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, PROGRAM = sys.argv[1:]
SCRIPT = 'uprobe:libc:getppid { printf("%s\\n", ustack(bpftrace)); exit(); }'
cases = Cases()


def frames(*words):
    out = subprocess.run([STRATA, '-q', *words], capture_output=True, text=True, timeout=60).stdout
    return [line.strip() for line in out.splitlines() if line.strip() and not line.startswith(('Process ', 'Thread '))]


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit(0)
program = subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True)
wanted = ['call_on', *(f'[anon]+{address}' for address in program.stdout.readline().split()), 'main']
for how, words in (('held', ('--unwind', str(program.pid))), ('traced', ('-p', str(program.pid), '-e', SCRIPT))):
    seen = frames(*words)
    names = [line if line.startswith('[') else line.split()[0].split('+')[0] for line in seen]
    at = names.index('call_on') if 'call_on' in names else 0
    cases.check(names[at:at + 4] == wanted and names[-1] == '_start', how, seen)
program.kill()
sys.exit(cases.done())
