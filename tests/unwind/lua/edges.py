#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""edges.py STRATA LUA... - stacks at each instruction with which the loop of PUC's Lua begins or returns, where its frame
does not have all registers of its caller. A profile rarely meets them. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import luas
import traced
from busy_calls import judge

STRATA, NAMES = sys.argv[1], sys.argv[2:]
EACH = 500  # stacks of an instruction
FIRST, LAST = 16, 9  # instructions of the prologue and of an epilogue
STACK = re.compile(r'^@\[\S*?:(\w+), \n(.*?)\n\]: (\d+)$', re.M | re.S)


def listed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def edges(program):
    """Returns {address: instruction} of the largest function's edges."""
    found = re.findall(r' FDE .*pc=(\w+)\.\.(\w+)', listed('readelf', '--debug-dump=frames', program))
    start, end = max(((int(start, 16), int(end, 16)) for start, end in found), key=lambda range: range[1] - range[0])
    code = re.findall(r'^ +(\w+):\t[^\t\n]*\t(.*)$',
                      listed('objdump', '-d', f'--start-address={start}', f'--stop-address={end}', program), re.M)
    wanted = code[:FIRST]
    for i, (_, text) in enumerate(code):
        if text.startswith('ret'):
            wanted += code[i - LAST + 1:i + 1]
    return {int(address, 16): text for address, text in wanted}


def look(cases, name):
    root = luas.get(name).parent / 'root'
    inside = f'usr/bin/{name.partition("-")[2]}'
    program = pathlib.Path('/tmp') / f'busy-{os.getpid()}.lua'  # it exists whatever the root is
    program.write_bytes((HERE / 'busy.lua').read_bytes())
    process = traced.start(luas.get(name), program, cwd='/tmp')
    try:
        process.stdout.readline()
        at = edges(root / inside)
        script = '\n'.join(f'uprobe:/proc/{process.pid}/root/{inside}:{address:#x} /@n[{address}] < {EACH}/ '
                           f'{{ @n[{address}]++; @[probe, ustack(8192)] = count(); if (@n[{address}] == {EACH} && '
                           f'++@all == {len(at)}) {{ exit(); }} }}' for address in at) + '\ninterval:s:60 { exit(); }'
        done = subprocess.run([STRATA, '-p', str(process.pid), '-e', f'config = {{ max_map_keys = {EACH * len(at)} }} {script}'],
                              capture_output=True, text=True)
    finally:
        process.kill()
        process.wait()
        program.unlink()
    wrong, seen = {}, {}
    for address, text, n in STACK.findall(done.stdout):
        what = judge(text)
        address = int(address, 0)
        seen[address] = seen.get(address, 0) + int(n)
        if what != 'whole':
            wrong[hex(address), at.get(address)] = what, text
    cases.check(not wrong and set(seen) == set(at) and min(seen.values()) >= EACH,
                f'{name}: {len(at)} instructions, {sum(seen.values())} stacks', *list(wrong.items())[:3], seen, done.stderr)


sys.exit(accounts.each(NAMES, luas.get, look))
