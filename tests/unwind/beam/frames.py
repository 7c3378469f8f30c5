#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""frames.py STRATA [ERLANG...] - beamstack's other uses: has_frame(), len(), names and lines of processes that have ended,
and dump. An ERLANG is a name of beams.py. Prints TAP."""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import beams
import traced

STRATA, NAMES = sys.argv[1], sys.argv[2:]
CALLS = 300
CALL = 'tracepoint:syscalls:sys_enter_getrusage /pid == %d'
SCRIPT = f'''{CALL} && has_frame(beamstack, "frames:wanted/0")/ {{ @yes = count(); @most = max(len(beamstack)); }}
{CALL} && !has_frame(beamstack, "frames:wanted/0")/ {{ @no = count(); @least = max(len(beamstack)); }}
{CALL}/ {{ @stack[beamstack] = count(); }}
'''


def look(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        beams.compile_module(name, HERE / 'frames.erl', directory)
        process = traced.start(*beams.command(name, directory, 'frames', CALLS), cwd='/tmp')
        process.stdout.readline()
        dumped = subprocess.run([STRATA, 'dump', '-p', str(process.pid)], capture_output=True, text=True).stdout
        _, printed, said = traced.beside(process, STRATA, SCRIPT % ((process.pid,) * 3))
    cases.check('process_main' in dumped or '<runtime>' in dumped, f'{name}: dump', dumped)
    out = b'\n'.join(printed).decode()
    found = {key: int(n) for key, n in re.findall(r'^@(yes|no|most|least): (\d+)$', out, re.M)}
    undecided = sum(map(int, re.findall(r'(\d+) events? w(?:as|ere) not decided', said.decode())))
    decided = found.get('yes', 0) + found.get('no', 0)
    cases.check(found.get('yes', 0) <= CALLS // 3 and found.get('no', 0) <= CALLS - CALLS // 3 and
                decided + undecided // 2 == CALLS, f'{name}: has_frame()', found, said.decode())
    # Each has deep/1, wanted/0 or other/0, call/1, main/1, and init's functions, whose number depends on the version.
    cases.check(found.get('most', 0) == found.get('least', 0) + 10, f'{name}: len()', out)
    deep = r'(?:\s+frames:deep/1 \S+:33\n){20}'
    stack = rf'frames:deep/1 \S+:30\n{deep}\s+frames:wanted/0 \S+:22\n\s+frames:call/1 \S+:15\n[^@]*init:do_boot/3\n\]: {CALLS // 3}$'
    cases.check(re.search(stack, out, re.M), f'{name}: names of a process that has ended', out)


sys.exit(accounts.each(NAMES or beams.names(), beams.get, look))
