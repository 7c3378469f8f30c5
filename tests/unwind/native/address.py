#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""address.py - code without a file is shown by its whole address: 47 bits, in anonymous memory and where nothing
is mapped (address.c), in each mode that shows addresses, for a traced and for a held process.

    address.py STRATA PROGRAM      root"""
import os
import re
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, PROGRAM = sys.argv[1:]
cases = Cases()


def output(*words):
    return subprocess.run([STRATA, '-q', *words], capture_output=True, text=True, timeout=60).stdout


def traced(pid, mode):
    return output('-p', str(pid), '-e', f'uprobe:libc:getppid {{ printf("%s\\n", ustack({mode})); exit(); }}')


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit(0)
program = subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True)
anonymous, unmapped = program.stdout.readline().split()
for how, out in (('held', output('--unwind', str(program.pid))), ('ustack', traced(program.pid, 'bpftrace'))):
    lines = [line.strip() for line in out.splitlines()]
    cases.check(f'[anon]+{anonymous}' in lines, f'{how}: the address in anonymous memory is {anonymous}', out)
    cases.check(unmapped in lines, f'{how}: the address of no mapping is {unmapped}', out)
for mode in ('raw', 'perf', 'build_id'):
    out = traced(program.pid, mode)
    words = out.replace('0x', '').split()
    cases.check(anonymous[2:] in words and unmapped[2:] in words, f'ustack({mode}): both', words)
    cases.check(not re.search('^ +[0-9a-f]', out, re.M), f'ustack({mode}): lines have no blanks in front', out)
program.kill()
sys.exit(cases.done())
