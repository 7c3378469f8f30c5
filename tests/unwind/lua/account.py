#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py STRATA CALLS [LUA...] - compares debug.getinfo with luastack and with Lua's frames of ustack, frame by frame,
for random stacks: name, file and line. A LUA is a name of luas.py. LuaJIT runs without its compiler and with it.
Prints TAP."""
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import absent
import luas
import traced
from tap import Cases

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
ENOUGH = 0.999
SCRIPT = '''tracepoint:syscalls:sys_enter_unlink* /pid == %d/ {
    printf("luastack%%s\\n", luastack(4096));
    printf("ustack%%s\\n", ustack(4096));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|.* \S+\.(c|h|S):\d+$')


def stacks(printed):
    """Yields (kind, frames) of each stack."""
    kind, frames = None, []
    for line in (raw.decode().strip() for raw in printed):
        if line in ('luastack', 'ustack'):
            kind, frames = line, []
        elif line and (kind == 'luastack' or not NATIVE.match(line)):
            frames.append(line)
        elif not line and kind:
            yield kind, frames
            kind = None


def agree(frames, account):
    """The first frames are os.remove and note(); the last may be the function in C that runs the program."""
    if frames[-1:] == ['[C]']:
        frames = frames[:-1]
    return frames[:1] == ['os.remove'] and frames[1].startswith('note ') and frames[2:] == account


def compare(cases, name, *options):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        program = pathlib.Path(directory) / 'account.lua'
        program.write_bytes((HERE / 'account.lua').read_bytes())
        process = traced.start(luas.get(name), *options, program, CALLS, 1, cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        lines, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    accounts = [line.decode().rstrip('\n').split('\t') for line in lines]
    found = {'luastack': [], 'ustack': []}
    for kind, frames in stacks(printed):
        found[kind].append(frames)
    for kind, have in found.items():
        right = [agree(frames, account) for frames, account in zip(have, accounts)]
        wrong = right.index(False) if False in right else 0
        detail = [word.replace(directory, '') for word in [*map(' | '.join, have[wrong:wrong + 1] + accounts[wrong:wrong + 1])]]
        cases.check(len(have) == len(accounts) == int(CALLS) and sum(right) >= ENOUGH * len(accounts),
                    f'{" ".join([name, *options])} {version}: {kind}: {sum(right)} of {len(accounts)} stacks agree', len(have), *detail,
                    said.decode())


def main():
    cases = Cases()
    for name in NAMES or luas.names():
        try:
            luas.get(name)
        except absent.Missing as e:
            cases.count += 1
            cases.failed += absent.tap_fails(cases.count, name, e)
            continue
        for options in [['-joff'], ['-jon']] if 'luajit' in name else [[]]:
            compare(cases, name, *options)
    return cases.done()


sys.exit(absent.as_root(main))
