#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""busy.py STRATA HZ SAMPLES [LUA...] - a profile of a busy Lua: each function was called by one that may call it, the line is
within the function, functions that C called have native frames before their callers, and the stacks are whole, except a
few that were interrupted while C and Lua call each other. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import luas
from busy_calls import ALL, STACK, judge

STRATA, HZ, SAMPLES, NAMES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
SCRIPT = (f'config = {{ max_map_keys = {SAMPLES + 1000} }} '
          f'profile:hz:{HZ} {{ @[ustack(8192)] = count(); if (++@n >= {SAMPLES}) {{ exit(); }} }} '
          f'interval:s:{10 * SAMPLES // HZ + 20} {{ exit(); }}')
WHOLE = 0.98
INLINED = 'marked: [inlined functions not readable]'  # LuaJIT does not know the functions at some places of a trace
HIDDEN = 0.045  # 2.2 % of 40,000, with those in which a trace is left


def look(cases, name, *options):
    program = pathlib.Path('/tmp') / f'busy-{os.getpid()}.lua'  # it exists whatever the root is
    program.write_bytes((HERE / 'busy.lua').read_bytes())
    traced = subprocess.Popen([luas.get(name), *options, program], stdout=subprocess.PIPE, cwd='/tmp')
    try:
        traced.stdout.readline()
        done = subprocess.run([STRATA, '-p', str(traced.pid), '-e', SCRIPT], capture_output=True, text=True)
    finally:
        traced.kill()
        traced.wait()
        program.unlink()
    tally, worst = {}, ''
    for text, n in STACK.findall(done.stdout):
        what = judge(text)
        if os.environ.get('KEEP') and what != 'whole':
            print(what, n, text, sep='\n')
        tally[what] = tally.get(what, 0) + int(n)
        if what != 'whole' and (not worst or not what.startswith('marked')):
            worst = text
    total, whole = sum(tally.values()), tally.pop('whole', 0) + tally.get(INLINED, 0)
    wrong = sum(n for what, n in tally.items() if not what.startswith('marked'))
    missing = {name for name in ALL if not re.search(rf'^\s+{re.escape(name)} \S*busy', done.stdout, re.M)}
    cases.check(total >= 0.99 * SAMPLES and whole >= WHOLE * total and tally.get(INLINED, 0) <= HIDDEN * total and
                not wrong and not missing,
                f'{" ".join([name, *options])}: {total} stacks, {whole} whole, {wrong} wrong',
                *sorted(((n, what) for what, n in tally.items()), reverse=True)[:8], missing, worst, done.stderr)


def check(cases, name):
    for options in [['-joff'], ['-jon']] if 'luajit' in name else [[]]:
        look(cases, name, *options)


sys.exit(accounts.each(NAMES or luas.names(), luas.get, check))
